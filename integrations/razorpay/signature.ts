import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignatureVerdict } from '../provider-notification.ts';

/**
 * Verifies `X-Razorpay-Signature` over the raw bytes of a notification: hexadecimal HMAC-SHA256 of the body under one of the secrets, the present one
 * and those that were replaced lately. It covers no time, so there is no window. Every comparison takes the same time; without a secret
 * nothing is valid. spec: platform §16; design: money-in-checkout §C razorpay, §A13
 */
export function verifyRazorpaySignature(
  header: string | string[] | undefined,
  body: Uint8Array,
  secrets: readonly string[],
): SignatureVerdict {
  if (!header || header.length === 0) return 'missing';
  if (typeof header !== 'string' || !/^[0-9a-f]{64}$/i.test(header)) return 'bad';
  const given = Buffer.from(header, 'hex');
  let isSigned = false;
  for (const secret of secrets.filter(Boolean)) {
    if (timingSafeEqual(given, createHmac('sha256', secret).update(body).digest())) isSigned = true;
  }
  return isSigned ? 'valid' : 'bad';
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignatureVerdict } from './provider-notification.ts';

const written = { hex: /^[0-9a-f]{64}$/i, base64: /^[A-Za-z0-9+/]{43}=$/ } as const;

/**
 * Verdict on a header that holds HMAC-SHA256 of some parts, one behind the other, under one of the secrets: the present one and those that were
 * replaced lately. Every comparison takes the same time; without a secret nothing is valid. spec: platform §16
 */
export function verifyHmac(
  header: string | string[] | undefined,
  encoding: keyof typeof written,
  secrets: readonly string[],
  parts: readonly (string | Uint8Array)[],
): Exclude<SignatureVerdict, 'clock'> {
  if (!header || header.length === 0) return 'missing';
  if (typeof header !== 'string' || !written[encoding].test(header)) return 'bad';
  const given = Buffer.from(header, encoding);
  let isSigned = false;
  for (const secret of secrets.filter(Boolean)) {
    const expected = createHmac('sha256', secret);
    for (const part of parts) expected.update(part);
    if (timingSafeEqual(given, expected.digest())) isSigned = true;
  }
  return isSigned ? 'valid' : 'bad';
}

import { verifyHmac } from '../hmac-signature.ts';
import type { SignatureVerdict } from '../provider-notification.ts';

/**
 * Verifies `X-Razorpay-Signature` over the raw bytes of a notification, in hexadecimal. It covers no time, so there is no window.
 * spec: platform §16; design: money-in-checkout §C razorpay, §A13
 */
export function verifyRazorpaySignature(
  header: string | string[] | undefined,
  body: Uint8Array,
  secrets: readonly string[],
): SignatureVerdict {
  return verifyHmac(header, 'hex', secrets, [body]);
}

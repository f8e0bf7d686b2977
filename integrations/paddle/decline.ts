import type { DeclineClass } from '../gateway-reference.ts';

/** Codes of Paddle after which another try with the same card cannot succeed, or would look like fraud. */
const forGood = new Set([
  'blocked_card',
  'declined_not_retryable',
  'expired_card',
  'fraud',
  'invalid_payment_details',
  'redacted_payment_method',
  'transaction_not_permitted',
]);

/** Class of a decline by Paddle's code of it; what is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineClassOfPaddle(code: string): DeclineClass {
  if (code === 'authentication_failed') return 'authenticate';
  return forGood.has(code) ? 'never' : 'retry';
}

import type { DeclineClass } from '../gateway-reference.ts';

/** Reasons after which another try with the same card cannot succeed. */
const forGood = new Set([
  'bank_account_invalid',
  'card_expired',
  'card_network_not_enabled',
  'card_not_enrolled',
  'card_number_invalid',
  'card_type_invalid',
  'compliance_violation',
  'customer_gone',
  'debit_instrument_blocked',
  'debit_instrument_inactive',
  'international_transaction_not_allowed',
  'invalid_vpa',
  'mandate_cancelled',
  'mandate_refused',
  'not_there',
  'payment_risk_check_failed',
]);

const asksPayer = new Set(['authentication_failed', 'incorrect_otp', 'incorrect_pin', 'otp_expired']);

/** Class of a decline by Razorpay's `error_reason`; what is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineClassOfRazorpay(reason: string): DeclineClass {
  if (asksPayer.has(reason)) return 'authenticate';
  return forGood.has(reason) ? 'never' : 'retry';
}

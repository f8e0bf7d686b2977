import type { DeclineClass } from '../gateway-reference.ts';

/** Codes after which another try with the same card cannot succeed, or would look like fraud. */
const forGood = new Set([
  'account_closed',
  'card_not_supported',
  'currency_not_supported',
  'expired_card',
  'fraudulent',
  'incorrect_number',
  'invalid_account',
  'invalid_expiry_month',
  'invalid_expiry_year',
  'invalid_number',
  'lost_card',
  'merchant_blacklist',
  'new_account_information_available',
  'payment_intent_incompatible_payment_method',
  'payment_method_restricted',
  'payment_method_unactivated',
  'payment_method_unexpected_state',
  'pickup_card',
  'resource_missing',
  'restricted_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'security_violation',
  'stolen_card',
  'stop_payment_order',
]);

const asksPayer = new Set([
  'authentication_required',
  'payment_intent_authentication_failure',
  'authentication_not_handled',
]);

/** Class of a decline by Stripe's code of it; what is not known may be tried again. spec: wallets-and-payments §2.19 */
export function declineClassOfStripe(code: string): DeclineClass {
  if (asksPayer.has(code)) return 'authenticate';
  return forGood.has(code) ? 'never' : 'retry';
}

import type { Descriptions } from './describe-fields.ts';

/** Checkout sessions, and the `checkout` object of operations that a payment page can come before. */
export const checkoutFields: Descriptions = {
  'Checkout.payment_provider': 'Provider whose payment page is opened, such as `sandbox`; it has to be connected.',
  'Checkout.payment_provider_config': 'How the provider asks for the money.',
  'payment_provider_config.collection_method':
    '`charge_automatically` keeps the card for later charges too; `send_invoice`, when absent, asks for this one payment.',
  'payment_provider_config.payment_method': 'Way of paying that the page offers: `CARD`, when absent, or `UPI`.',
  max_mandate_limit:
    'Largest single later charge that the payer is asked to agree to, as a decimal text; needed by some ways of paying.',
  'Checkout.success_url': 'Where the payer is sent after paying: https, or http on localhost.',
  'Checkout.cancel_url': 'Where the payer is sent after leaving the page: https, or http on localhost.',
  failure_url: 'Where the payer is sent after a payment that failed: https, or http on localhost.',
  'Checkout.idempotency_key':
    'Key of the order: the same key is refused with 409 while its session runs; made from the order when absent.',
  customer_external_id: 'Your own id of the customer who pays.',
  'createCheckoutSession.action': '`create_subscription`; every other action starts at its own operation.',
  'Checkout.action': 'What is bought with the payment.',
  'createCheckoutSession.configuration': 'What is bought: exactly one block, the one of the action.',
  'Checkout.configuration': 'What is bought, as it was ordered.',
  create_subscription_params: 'The subscription that is made when the page is paid.',
  'create_subscription_params.subscription_id': 'Refused: the session makes a new subscription.',
  add_addon_params: 'Refused: an add-on is ordered with `POST /v1/subscriptions/addon` and a checkout object.',
  modify_subscription_params:
    'Refused: a change is ordered with `POST /v1/subscriptions/{id}/modify/execute` and a checkout object.',
  wallet_topup_params: 'Refused: credits are ordered with `POST /v1/wallets/{id}/top-up` and a checkout object.',
  checkout_status:
    '`initiated` has no link yet, `pending` can be paid, `completed` was paid and carried out, `failed` and `expired` ended unpaid.',
  payment_action: 'What the payer has to do now; null when there is nothing to be done.',
  'payment_action.type': '`checkout_url`: open the address.',
  'payment_action.url': 'Address of the payment page, for the payer alone.',
  next_action: 'What the payer has to do now; null when there is nothing to be done.',
  'next_action.type': '`checkout_url`: open the address.',
  'next_action.url': 'Address of the payment page, for the payer alone.',
  provider_result: 'What is known from the provider; null before it has made the page.',
  'provider_result.expires_at': 'When the provider closes the page; null where it does not say.',
  provider_session_id: 'Id of the page at the provider.',
  provider_payment_intent_id: 'Id of the payment at the provider; null before there is one.',
  provider_metadata: 'What the provider says beside this, as it says it.',
  'Checkout.result': 'What the payment brought about, by action; null before.',
  'Checkout.amount': 'What is asked for.',
  'Checkout.currency': 'Currency of the amount.',
  checkout_invoice_id: 'Id of the invoice that is paid; null for none.',
  checkout_payment_id: 'Id of the payment that is made; null before it is begun.',
  'Checkout.completed_at': 'When what was bought was carried out; null before.',
  'Checkout.cancelled_at': 'When it was cancelled; null while it is not.',
  'Checkout.expires_at': 'When it ends if nobody has paid.',
  terminal: 'Whether it has ended and will not change any more.',
  next_poll_after_ms: 'Milliseconds to wait before asking again; 0 when it has ended.',
  'Checkout.payment': 'The payment of the session; null before it is begun.',
  checkout: 'Opens a payment page: what is ordered comes when it is paid.',
  checkout_session: 'The session to be paid; null when nothing is.',
};

import { advanceClock, makeCustomer } from '../../bench/account.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { newExternalId, onClock, type Stage, until } from './stage.ts';

/**
 * Cards that buy credits through payments of their own: the purchase of a live wallet, that of a wallet which is closed while its charge is
 * under way, whose money goes back, and a charge without an invoice.
 */
export async function creditsBought(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const bought = await payPurchase(stage, 'succeeds');
  await api('GET', `/payments/${bought.paymentId}`);
  const late = await payPurchase(stage, 'answers_late', 2);
  await api('POST', `/wallets/${late.walletId}/terminate`);
  await until(async () => {
    const { items } = await api<{ items: { refund_status: string }[] }>('GET', `/refunds?payment_id=${late.paymentId}`);
    return items.some((refund) => refund.refund_status === 'SUCCEEDED') || undefined;
  });
  const { id: verified } = await api('POST', '/payments', {
    destination_type: 'CUSTOMER',
    destination_id: late.customerId,
    payment_method_type: 'CARD',
    amount: '1',
    currency: 'usd',
  });
  await until(async () => {
    const { payment_status } = await api<{ payment_status: string }>('GET', `/payments/${verified}`);
    return payment_status === 'SUCCEEDED' || undefined;
  });
}

async function payPurchase({ platform: { api } }: Stage, card: SandboxBehaviour, count = 0) {
  const customerId = await makeCustomer(api, { externalId: newExternalId() });
  const { id: walletId } = await api('POST', '/wallets', { customer_id: customerId, currency: 'usd' });
  const topup = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '100' };
  const { invoice_id } = await api<{ invoice_id: string }>('POST', `/wallets/${walletId}/top-up`, topup);
  // A card that is there before would be charged by the invoice itself.
  const method = { gateway: 'sandbox', card_number: sandboxCardNumber(card, count), set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, method);
  const { id: paymentId } = await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice_id,
    payment_method_type: 'CARD',
    amount: '100',
    currency: 'usd',
  });
  return { customerId, walletId, paymentId };
}

/** An incomplete subscription whose card is declined, and whose postpaid wallet then pays all of its first invoice. */
export async function walletPays(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { customerId, subscriptionId, clockId } = await onClock(stage, {
    card: 'declines',
    subscription: { payment_behavior: 'allow_incomplete' },
  });
  await advanceClock(api, clockId, '2026-01-15T01:00:00Z');
  const wallet = {
    customer_id: customerId,
    currency: 'usd',
    wallet_type: 'POST_PAID',
    initial_credits_to_load: '50000',
  };
  await api('POST', '/wallets', wallet);
  const { items } = await api<{ items: { id: string }[] }>('GET', `/invoices?subscription_id=${subscriptionId}`);
  await api('POST', `/invoices/${items[0]?.id}/payment/attempt`);
  await until(async () => {
    const { subscription_status } = await api<{ subscription_status: string }>(
      'GET',
      `/subscriptions/${subscriptionId}`,
    );
    return subscription_status === 'active' || undefined;
  });
  await advanceClock(api, clockId, '2026-02-16T00:00:00Z');
}

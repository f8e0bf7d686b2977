import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api } = await testPlatform();
const { planId } = await monthlyPlan(api);
const start = '2026-01-15T00:00:00Z';

const statusOf = async (id: string) => (await api<Wire>('GET', `/subscriptions/${id}`)).body.subscription_status;

/** A subscription that waits for its opening invoice, whose charge was declined an hour ago on its test clock. */
async function incompleteForAnHour(card: SandboxBehaviour = 'declines_times') {
  const customer = await clockedCustomer(api, {
    frozenTime: start,
    card: sandboxCardNumber(card, card === 'declines_times' ? 1 : 0),
  });
  const { body } = await api<Wire>('POST', '/subscriptions', {
    customer_id: customer.customerId,
    plan_id: planId,
    start_date: start,
    billing_period: 'MONTHLY',
    billing_cycle: 'anniversary',
    currency: 'usd',
    payment_behavior: 'allow_incomplete',
  });
  await advanceClock(api, customer.clockId, '2026-01-15T01:00:00Z');
  expect(await statusOf(body.id)).toBe('incomplete');
  return { ...customer, subscriptionId: body.id, invoiceId: body.latest_invoice.id };
}

test('a subscription begins with the charge that a person asks for, though its test clock has gone on since', async () => {
  const { subscriptionId, invoiceId } = await incompleteForAnHour();
  expect((await api('POST', `/invoices/${invoiceId}/payment/attempt`)).status).toBe(200);
  await expect.poll(() => statusOf(subscriptionId), { timeout: 20_000 }).toBe('active');
});

test('a subscription begins with money that came another way, though its test clock has gone on since', async () => {
  const { subscriptionId, invoiceId } = await incompleteForAnHour();
  const payment = { destination_type: 'INVOICE', destination_id: invoiceId, payment_method_type: 'OFFLINE' };
  const paid = await api<Wire>('POST', '/payments', { ...payment, amount: '30', currency: 'usd' });
  expect(paid).toMatchObject({ status: 201, body: { payment_status: 'SUCCEEDED' } });
  await expect.poll(() => statusOf(subscriptionId), { timeout: 20_000 }).toBe('active');
});

test('a subscription begins when a wallet pays what its card did not', async () => {
  const { subscriptionId, invoiceId, customerId } = await incompleteForAnHour('declines');
  const wallet = {
    customer_id: customerId,
    currency: 'usd',
    wallet_type: 'POST_PAID',
    initial_credits_to_load: '1000',
  };
  await created(api, '/wallets', wallet);
  expect((await api('POST', `/invoices/${invoiceId}/payment/attempt`)).status).toBe(200);
  await expect.poll(() => statusOf(subscriptionId), { timeout: 20_000 }).toBe('active');
});

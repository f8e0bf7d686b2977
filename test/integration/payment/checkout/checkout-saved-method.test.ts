import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, created, monthlyPlan, testPlatform } from '../../../support/billing.ts';
import { asSuperuser } from '../../../support/database.ts';
import { type Body, checkout, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const { api, base, gateway } = await testPlatform();
const plan = await monthlyPlan(api);
const automatic = { ...checkout, payment_provider_config: { collection_method: 'charge_automatically' } };

const read = async (path: string) => (await api<Body>('GET', path)).body;
const saveCard = (customerId: string, card: SandboxBehaviour, times = 0) =>
  created<Body>(api, `/customers/${customerId}/payment-methods`, { card_number: sandboxCardNumber(card, times) });

/** A customer on a test clock with a card, and the session of its subscription, which is to be charged. */
async function ordered(card: SandboxBehaviour, times = 0) {
  const { id: clockId } = await created<Body>(api, '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const { id: customerId } = await customerOf(api, { test_clock_id: clockId });
  const method = await saveCard(customerId, card, times);
  const { body } = await api<Body>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: plan.planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    checkout: automatic,
  });
  return { customerId, clockId, methodId: method.id, subscription: body, session: body.checkout_session };
}

const become = (sessionId: string, expected: object) =>
  expect.poll(() => readSession(api, sessionId), { timeout: 20_000 }).toMatchObject(expected);
const cancel = (sessionId: string) => api<Body>('POST', `/checkout/sessions/${sessionId}/cancel`);

test('finding B9: a saved card pays the order at once, without a page, and pays the renewals', async () => {
  const { methodId, subscription, session, clockId, customerId } = await ordered('succeeds');
  expect(session).toMatchObject({ checkout_status: 'completed', payment_action: null });
  expect(await read(`/subscriptions/${subscription.id}`)).toMatchObject({
    subscription_status: 'active',
    gateway_payment_method_id: methodId,
  });
  expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({
    payment_status: 'SUCCEEDED',
    payment_method_type: 'CARD',
    payment_method_id: methodId,
  });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({ payment_status: 'SUCCEEDED' });
  await advanceTo(api, clockId, '2026-02-02T00:00:00Z');
  const { items } = await read(`/invoices?customer_id=${customerId}`);
  expect(items).toHaveLength(2);
});

test('finding B9: a decline opens the page, is an attempt of the payment, and the page takes another card', async () => {
  const { subscription, session } = await ordered('declines');
  expect(session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  const payment = await read(`/payments/${session.checkout_payment_id}`);
  expect(payment).toMatchObject({ payment_status: 'PENDING', payment_method_id: null });
  expect(payment.attempts).toMatchObject([{ payment_status: 'FAILED' }]);
  const token = `${session.checkout_payment_id}:2`;
  expect(await gateway.payer!.payLink(token, { cardNumber: sandboxCardNumber('succeeds') })).toMatchObject({
    status: 'paid',
  });
  await become(session.id, { checkout_status: 'completed' });
  expect(await read(`/subscriptions/${subscription.id}`)).toMatchObject({ subscription_status: 'active' });
});

test('finding B9: a card that needs its payer is confirmed on the page', async () => {
  for (const card of ['needs_authentication', 'requires_action'] as const) {
    const { session } = await ordered(card);
    expect(session, card).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  }
});

test('finding B9: what is not decided waits without a page until it is', async () => {
  const { session, clockId, subscription } = await ordered('answers_late', 2);
  expect(session).toMatchObject({ checkout_status: 'pending', payment_action: null });
  await advanceTo(api, clockId, '2026-01-01T00:01:00Z');
  await become(session.id, { checkout_status: 'completed' });
  expect(await read(`/subscriptions/${subscription.id}`)).toMatchObject({ subscription_status: 'active' });
});

test('finding B9: a charge that nobody decides is given up with its session, and takes nothing', async () => {
  const cancelled = await ordered('never_answers');
  expect(cancelled.session).toMatchObject({ checkout_status: 'pending', payment_action: null });
  expect((await cancel(cancelled.session.id)).status).toBe(200);
  const expired = await ordered('never_answers');
  await advanceTo(api, expired.clockId, '2026-01-01T01:00:00Z');
  for (const { session } of [cancelled, expired]) {
    await become(session.id, { checkout_status: 'expired' });
    expect(await gateway.operator.confirm(`${session.checkout_payment_id}:1`)).toBe(false);
  }
});

test('finding B9: a charge whose answer was lost is not sent twice, and cannot be cancelled once it took the money', async () => {
  for (const how of ['loses_answer', 'unreachable'] as const) {
    await gateway.operator.failNext('charge', how);
    const { session } = await ordered('succeeds');
    expect(session, how).toMatchObject({ checkout_status: 'pending', payment_action: null });
    const { status } = await cancel(session.id);
    await become(session.id, { checkout_status: how === 'loses_answer' ? 'completed' : 'expired' });
    expect(status).toBe(how === 'loses_answer' ? 400 : 200);
    const ofSession = (await gateway.operator.captures()).filter(({ intentToken }) =>
      intentToken.startsWith(session.checkout_payment_id),
    );
    expect(ofSession).toHaveLength(how === 'loses_answer' ? 1 : 0);
  }
});

test('finding B9: one whose charge is decided while it is read completes by that', async () => {
  const { session } = await ordered('never_answers');
  expect(await gateway.operator.confirm(`${session.checkout_payment_id}:1`)).toBe(true);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed', terminal: true });
});

test('only a method within its mandate and of the session’s provider is charged', async () => {
  const { id: customerId } = await customerOf(api);
  const { id } = await saveCard(customerId, 'succeeds');
  await asSuperuser(base.ownerUrl, `update payment_method set max_amount = 24 where id = '${id}'`);
  const { body: over } = await api<Body>('POST', '/invoices', invoiceOf(customerId, '25', { checkout: automatic }));
  expect(over.checkout_session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  expect((await cancel(over.checkout_session.id)).status).toBe(200);
  const { body: within } = await api<Body>('POST', '/invoices', invoiceOf(customerId, '24', { checkout: automatic }));
  expect(within.checkout_session).toMatchObject({ checkout_status: 'completed' });
});

test('without being asked to charge automatically the page is opened', async () => {
  const { id: customerId } = await customerOf(api);
  await saveCard(customerId, 'succeeds');
  const { body } = await api<Body>('POST', '/invoices', invoiceOf(customerId));
  expect(body.checkout_session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  await payAtSandbox(gateway, body.checkout_session);
});

test('a wallet is topped up by the saved card', async () => {
  const { id: customerId } = await customerOf(api);
  await saveCard(customerId, 'succeeds');
  const wallet = await walletOf(api, customerId);
  const { body } = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '30',
    checkout: automatic,
  });
  expect(body.checkout_session).toMatchObject({ checkout_status: 'completed' });
  expect(await read(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '30' });
});

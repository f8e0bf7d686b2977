import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { type Body, checkout, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const { api, gateway } = await testPlatform();

const linkOf = (session: Body) => `${session.checkout_payment_id}:1`;
const pay = (session: Body, card: SandboxBehaviour, count = 0) =>
  payAtSandbox(gateway, session, sandboxCardNumber(card, count));
const cancel = (session: Body) => api<Body>('POST', `/checkout/sessions/${session.id}/cancel`);
const refundsOf = async (paymentId: string) =>
  (await api<Body>('GET', `/refunds?payment_ids=${paymentId}`)).body.items as Body[];

async function opened(more: object = {}) {
  const customer = await customerOf(api, more);
  const { body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
  return body.checkout_session as Body;
}

async function onClock() {
  const { body: clock } = await api<Body>('POST', '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  return { clockId: clock.id, session: await opened({ test_clock_id: clock.id }) };
}

async function refundedInFull(paymentId: string, reason: string) {
  await expect
    .poll(() => refundsOf(paymentId), { timeout: 20_000 })
    .toMatchObject([
      { refund_status: 'SUCCEEDED', refund_reason: reason, refund_target: 'BACK_TO_SOURCE', amount: '25' },
    ]);
}

test('finding A3: paid after its end: the payment succeeds, its money goes back, and nothing of the order comes', async () => {
  const session = await opened();
  await gateway.operator.failNext('close', 'unreachable', { intentToken: linkOf(session) });
  expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired' });
  expect(await pay(session, 'succeeds')).toMatchObject({ status: 'paid' });
  await refundedInFull(session.checkout_payment_id, 'OTHER');
  const { body: payment } = await api<Body>('GET', `/payments/${session.checkout_payment_id}`);
  expect(payment).toMatchObject({ payment_status: 'REFUNDED', metadata: { unapplied: 'late' } });
  expect((await api('GET', `/invoices/${session.checkout_invoice_id}`)).status).toBe(404);
});

test('finding A5: "not paid" is not "unpaid": while a bank decides, neither the timer nor a cancellation ends the session', async () => {
  const { clockId, session } = await onClock();
  await pay(session, 'never_answers');
  const refused = await cancel(session);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(refused.body.message).toContain(session.checkout_payment_id);
  await advanceTo(api, clockId, '2026-01-01T02:00:00Z');
  expect((await readSession(api, session.id)).checkout_status).toBe('pending');
  await gateway.operator.confirmLink(linkOf(session));
  expect((await readSession(api, session.id)).checkout_status).toBe('completed');
});

test('finding A6: a provider that is down at the end: the paid order is not cancelled by its timer', async () => {
  const { clockId, session } = await onClock();
  await pay(session, 'succeeds');
  await gateway.operator.failNext('read', 'unreachable', { times: 50, intentToken: linkOf(session) });
  await gateway.operator.failNext('close', 'unreachable', { times: 3, intentToken: linkOf(session) });
  await advanceTo(api, clockId, '2026-01-01T03:00:00Z');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed', terminal: true });
});

test('finding A7: less than was asked, or another currency, never completes an order; more does, and shows as overpaid', async () => {
  for (const card of ['captures_less', 'captures_otherwise'] as const) {
    const session = await opened();
    await pay(session, card);
    expect(await readSession(api, session.id)).toMatchObject({
      checkout_status: 'failed',
      failure_reason: 'amount_mismatch',
    });
    const { body } = await api<Body>('GET', `/payments/${session.checkout_payment_id}`);
    expect(body.metadata).toMatchObject({ unapplied: 'wrong_amount', asked_amount: '25' });
    await expect.poll(() => refundsOf(body.id), { timeout: 20_000 }).toMatchObject([{ refund_status: 'SUCCEEDED' }]);
  }
  const more = await opened();
  await pay(more, 'captures_more');
  expect((await readSession(api, more.id)).checkout_status).toBe('completed');
  const { body: invoice } = await api<Body>('GET', `/invoices/${more.checkout_invoice_id}`);
  expect(invoice).toMatchObject({ payment_status: 'OVERPAID', amount_paid: '26', overpaid_amount: '1' });
});

test('finding A8: one link, two captures: the second goes back, the order stays paid once', async () => {
  const session = await opened();
  await pay(session, 'succeeds');
  const { token } = await gateway.savePaymentMethod({ cardNumber: sandboxCardNumber('succeeds') });
  await gateway.operator.captureLink(linkOf(session), token);
  expect((await readSession(api, session.id)).checkout_status).toBe('completed');
  const { body } = await api<Body>('GET', `/payments?destination_id=${session.checkout_invoice_id}`);
  const second = body.items.find((payment: Body) => payment.id !== session.checkout_payment_id);
  expect(second.metadata).toMatchObject({ duplicate_of: session.checkout_payment_id });
  await refundedInFull(second.id, 'DUPLICATE');
  const { body: invoice } = await api<Body>('GET', `/invoices/${session.checkout_invoice_id}`);
  expect(invoice).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '25', overpaid_amount: '0' });
});

test('finding B8: what a session waits for is moved by nobody else', async () => {
  const session = await opened();
  const payment = `/payments/${session.checkout_payment_id}`;
  const invoice = `/invoices/${session.checkout_invoice_id}`;
  const refused = [
    await api<Body>('PUT', payment, { payment_status: 'SUCCEEDED' }),
    await api<Body>('POST', `${payment}/process`),
    await api<Body>('DELETE', payment),
    await api<Body>('POST', `${invoice}/finalize`),
    await api<Body>('POST', `${invoice}/void`),
    await api<Body>('PUT', `${invoice}/payment`, { payment_status: 'SUCCEEDED', amount: '25' }),
    await api<Body>('POST', `${invoice}/payment/attempt`),
    await api<Body>('POST', '/payments', {
      destination_type: 'INVOICE',
      destination_id: session.checkout_invoice_id,
      payment_method_type: 'OFFLINE',
      amount: '25',
      currency: 'usd',
    }),
  ];
  const told = { status: 400, body: { code: 'invalid_operation', message: expect.stringContaining(session.id) } };
  expect(refused).toMatchObject(refused.map(() => told));
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending' });
});

test('a cancelled purchase of credits leaves neither credits nor bonus, and its wallet can be topped up again', async () => {
  const customer = await customerOf(api);
  const wallet = await walletOf(api, customer.id);
  const topUp = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '40', bonus_credits_to_add: '4' };
  const { body } = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, { ...topUp, checkout });
  await cancel(body.checkout_session);
  const { body: page } = await api<Body>('GET', `/wallets/${wallet.id}/transactions`);
  expect(new Set(page.items.map((entry: Body) => entry.transaction_status))).toEqual(new Set(['failed']));
  expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('0');
  const again = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, { ...topUp, checkout });
  expect(again.status, JSON.stringify(again.body)).toBe(200);
});

test('a provider that refuses, and one that cannot be reached, leave nothing behind but a failed session', async () => {
  const customer = await customerOf(api);
  for (const [how, times, status, code] of [
    ['refuses', 1, 400, 'validation_error'],
    ['unreachable', 3, 503, 'service_unavailable'],
  ] as const) {
    await gateway.operator.failNext('open', how, { times });
    const refused = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
    expect(refused).toMatchObject({ status, body: { code } });
    const { body } = await api<Body>('GET', `/checkout/sessions?customer_id=${customer.id}&checkout_status=failed`);
    expect(body.items[0]).toMatchObject({ checkout_status: 'failed', failure_reason: 'provider_refused' });
  }
  // Nothing is in the way of the same order.
  expect((await api('POST', '/invoices', invoiceOf(customer.id))).status).toBe(201);
});

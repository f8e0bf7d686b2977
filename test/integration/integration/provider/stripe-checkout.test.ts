import { afterAll, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { paySession } from '../../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { monthlyPlan } from '../../../support/billing.ts';
import { createClock } from '../../../support/clock.ts';
import { testDatabase } from '../../../support/database.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { connectStripe, inboxOf, lastEvent, notify, type StripeWorld, stripePayer } from '../provider-inbox.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices of payers with a card at Stripe are written by hand, without their documents.
const base = await testDatabase({ breaks: ['I19'], fakes: { stripe: fake } });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

const secretKey = 'sk_test_pages';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
const checkout = { payment_provider: 'stripe', success_url: 'https://shop.example/thanks' };
const order = async (more: object = {}) =>
  api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, '25', more));
const unconnected = await order({ checkout });
const connection = await connectStripe(world);

/** An invoice of 25 that a page of Stripe pays. */
async function opened(): Promise<Body> {
  const { status, body } = await order({ checkout });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.checkout_session;
}
const pageOf = (session: Body) => books.sessions.get(session.provider_result.provider_session_id)!;
const pay = (session: Body, card: Parameters<typeof sandboxCardNumber>[0] = 'succeeds') =>
  paySession(books, session.provider_result.provider_session_id, sandboxCardNumber(card));
const becomes = (session: Body, checkout_status: string) =>
  expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status });

test('a provider that is not connected is refused by name, and nothing is drafted', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('stripe is not connected') },
  });
});

test('an invoice is paid on the page of Stripe, and its payment is that of the account', async () => {
  const session = await opened();
  expect(session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  expect(session.payment_action.url).toBe(pageOf(session).url);
  expect(pageOf(session)).toMatchObject({
    metadata: { environment: base.scope.environmentId, kind: 'checkout_session', id: session.id },
  });
  expect(pay(session, 'declines')).toBe('requires_payment_method');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  expect(pay(session)).toBe('succeeded');
  await becomes(session, 'completed');
  const { body: payment } = await api<Body>('GET', `/payments/${session.checkout_payment_id}`);
  expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_gateway: 'stripe', amount: '25' });
  const { body: invoice } = await api<Body>('GET', `/invoices/${session.checkout_invoice_id}`);
  expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED' });
});

test('a hundred clients that poll one session have Stripe asked once in two seconds; the others are told so', async () => {
  const session = await opened();
  const reads = await Promise.all(Array.from({ length: 100 }, () => readSession(api, session.id)));
  expect(new Set(reads.map(({ checkout_status }) => checkout_status))).toEqual(new Set(['pending']));
  const confirmed = reads.filter(({ stale }) => !stale);
  await expect.poll(async () => (await readSession(api, session.id)).stale, { timeout: 20_000 }).toBe(false);
  const moments = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ at: string }>(
      `select occurred_at::text as at from audit_entry where object_id = $1 and action = 'asked' and actor = $2 order by occurred_at`,
      [session.id, base.scope.actor],
    ),
  );
  expect(moments).toHaveLength(confirmed.length + 1);
  const pauses = moments.slice(1).map(({ at }, index) => Date.parse(at) - Date.parse(moments[index]!.at));
  for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(2_000);
});

test('what Stripe tells completes the session without anybody asking', async () => {
  const session = await opened();
  pay(session);
  const event = lastEvent(books, 'checkout.session.completed');
  expect((await notify(world, event)).status).toBe(200);
  await expect
    .poll(() => inboxOf(world, event.id), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  const { body } = await api<Body>('GET', `/checkout/sessions?invoice_id=${session.checkout_invoice_id}`);
  expect(body.items).toMatchObject([{ id: session.id }]);
  await becomes(session, 'completed');
});

test('a payer who comes back is sent on with the true state, whatever Stripe has told by then', async () => {
  const session = await opened();
  const { success_url } = pageOf(session) as unknown as { success_url: string };
  const path = new URL(success_url).pathname;
  const unpaid = await app.inject({ method: 'GET', url: path });
  expect(String(unpaid.headers.location)).toMatch(/returned=1$/);
  const page = await app.inject({ method: 'GET', url: path.replace(/\/return$/, '') });
  expect(page.body).toContain(pageOf(session).url);
  pay(session);
  const { statusCode, headers } = await app.inject({ method: 'GET', url: path });
  expect(statusCode).toBe(303);
  expect(headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
});

test('finding A6: a cancelled session closes the page of Stripe, and holds its connection until then', async () => {
  const session = await opened();
  const refused = await api<Body>('DELETE', `/connections/${connection.id}`);
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/\d+ checkout sessions/) } });
  const { status, body } = await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
  expect(pageOf(session).status).toBe('expired');
  expect(pay(session)).toBe('closed');
});

test('finding A4: a cancellation that Stripe does not hear: money that comes later goes back to its card', async () => {
  const session = await opened();
  fake.failNext('close', 'unreachable', 20);
  expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).body.checkout_status).toBe('expired');
  pay(session);
  await notify(world, lastEvent(books, 'checkout.session.completed'));
  await expect
    .poll(async () => (await api<Body>('GET', `/refunds?payment_ids=${session.checkout_payment_id}`)).body.items, {
      timeout: 20_000,
    })
    .toMatchObject([{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' }]);
});

test('a subscription that is charged automatically keeps its card at Stripe, through the same connection', async () => {
  const customer = await customerOf(api);
  const { planId } = await monthlyPlan(api);
  const { status, body } = await api<Body>('POST', '/subscriptions', {
    customer_id: customer.id,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    collection_method: 'charge_automatically',
    checkout: { ...checkout, payment_provider_config: { collection_method: 'charge_automatically' } },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  pay(body.checkout_session);
  await becomes(body.checkout_session, 'completed');
  expect((await api<Body>('GET', `/subscriptions/${body.id}`)).body.subscription_status).toBe('active');
  const { body: methods } = await api<Body>('GET', `/customers/${customer.id}/payment-methods`);
  expect(methods.items).toMatchObject([{ gateway: 'stripe', is_default: true }]);
  const charged = await api<Body>('POST', '/invoices', invoiceOf(customer.id, '7', { checkout: undefined }));
  expect(charged.status, JSON.stringify(charged.body)).toBe(201);
  await api('POST', `/invoices/${charged.body.id}/finalize`);
  await api('POST', `/invoices/${charged.body.id}/payment/attempt`);
  await expect
    .poll(async () => (await api<Body>('GET', `/invoices/${charged.body.id}`)).body.payment_status, { timeout: 20_000 })
    .toBe('SUCCEEDED');
});

test('finding A12: a customer on a test clock pays at the sandbox alone', async () => {
  const test_clock_id = await createClock(api, '2026-01-01T00:00:00Z');
  const customer = await customerOf(api, { test_clock_id });
  expect(await api<Body>('POST', '/invoices', { ...invoiceOf(customer.id), checkout })).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('test clock') },
  });
});

test('finding B9: a card that Stripe keeps pays an order without a page, once, and a declined one opens it', async () => {
  const config = { collection_method: 'charge_automatically' };
  const orderBy = async (behaviour: Parameters<typeof stripePayer>[1]) => {
    const { customerId, methodId } = await stripePayer(world, behaviour);
    const ordered = { checkout: { ...checkout, payment_provider_config: config } };
    const { body } = await api<Body>('POST', '/invoices', invoiceOf(customerId, '25', ordered));
    return { session: body.checkout_session, methodId };
  };
  const intentsOf = ({ id }: Body) => [...books.intents.values()].filter(({ metadata }) => metadata.id === id);

  const paid = await orderBy('succeeds');
  expect(paid.session).toMatchObject({ checkout_status: 'completed', payment_action: null });
  expect(intentsOf(paid.session)).toMatchObject([{ status: 'succeeded', amount_received: 2500 }]);
  const { body: payment } = await api<Body>('GET', `/payments/${paid.session.checkout_payment_id}`);
  expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_method_id: paid.methodId });

  const declined = await orderBy('declines');
  expect(declined.session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  expect(pay(declined.session)).toBe('succeeded');
  await becomes(declined.session, 'completed');

  fake.failNext('charge', '500', 1);
  const lost = await orderBy('succeeds');
  expect(lost.session).toMatchObject({ checkout_status: 'pending', payment_action: null });
  await becomes(lost.session, 'completed');
  expect(intentsOf(lost.session)).toMatchObject([{ status: 'succeeded' }]);
});

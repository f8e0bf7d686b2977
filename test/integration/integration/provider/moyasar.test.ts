import { afterAll, describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent } from '../../../../dev/provider-fakes/moyasar/books.ts';
import { sentNotification } from '../../../../dev/provider-fakes/moyasar/notification.ts';
import { decide, payInvoice } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { startMoyasarFake } from '../../../../dev/provider-fakes/moyasar/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { inboxOf } from '../provider-inbox.fixture.ts';

const fake = await startMoyasarFake();
const providers = providerAdapters({ moyasar: fake.url });
const base = await testDatabase({ fakes: { moyasar: fake } });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

const secretKey = 'sk_test_pages';
const books = fake.booksOf(secretKey);
const checkout = { payment_provider: 'moyasar', success_url: 'https://shop.example/thanks' };
const read = async (path: string): Promise<Body> => (await api<Body>('GET', path)).body;
const connect = (more: object = {}) =>
  api<Body>('POST', '/connections', {
    name: 'Moyasar',
    provider_type: 'moyasar',
    encrypted_secret_data: { secret_key: secretKey, webhook_secret: 'mwh_1', ...more },
  });
const order = async (amount = '25', more: object = { checkout }) =>
  api<Body>('POST', '/invoices', invoiceOf((await customerOf(api)).id, amount, { currency: 'sar', ...more }));
const unconnected = await order();
const refusedKeys = [await connect({ secret_key: 'sk_live_1' }), await connect({ secret_key: 'no_key' })];
const { body: connection } = await connect();

async function opened(): Promise<Body> {
  const { status, body } = await order();
  expect(status, JSON.stringify(body)).toBe(201);
  return body.checkout_session;
}
const pageOf = (session: Body) => books.invoices.get(session.provider_result.provider_session_id)!;
const pay = (session: Body, card: SandboxBehaviour = 'succeeds') =>
  payInvoice(books, pageOf(session).id, sandboxCardNumber(card));
const becomes = (session: Body, checkout_status: string) =>
  expect.poll(() => readSession(api, session.id), { timeout: 20_000 }).toMatchObject({ checkout_status });
const refundsBecome = (paymentId: string, expected: object[]) =>
  expect
    .poll(async () => (await read(`/refunds?payment_ids=${paymentId}`)).items, { timeout: 20_000 })
    .toMatchObject(expected);
const lastEvent = (type: string): FakeEvent => {
  const event = books.events.findLast((each) => each.type === type);
  if (!event) throw new Error(`the account told of no ${type}`);
  return event;
};
const inboxBytes = () =>
  inSqlTransaction(base.database, base.scope, (tx) => tx.rows<{ body: Buffer }>('select body from inbound_event'));

async function notify(event: FakeEvent, secret: string | null = 'mwh_1') {
  const url = `/v1/webhooks/moyasar/${base.scope.tenantId}/${base.scope.environmentId}`;
  const { headers, body: payload } = sentNotification(event, secret);
  const answer = await app.inject({ method: 'POST', url, headers, payload });
  checkDocumented('POST', url, answer.statusCode, null, null);
  return { status: answer.statusCode, body: answer.json() as Body };
}

/** An invoice of 25 that was paid on the page of Moyasar. */
async function paid(card: SandboxBehaviour = 'succeeds') {
  const session = await opened();
  pay(session, card);
  await becomes(session, 'completed');
  const [payment] = books.paymentsOf(pageOf(session).id);
  return { paymentId: session.checkout_payment_id, invoiceId: session.checkout_invoice_id, payment: payment! };
}

async function credit(invoiceId: string, amount: string) {
  const [line] = (await read(`/invoices/${invoiceId}`)).line_items;
  const { status, body } = await api<Body>('POST', '/creditnotes', {
    invoice_id: invoiceId,
    reason: 'SERVICE_ISSUE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: line.id, amount }],
  });
  expect(status, JSON.stringify(body)).toBe(201);
}

test('a provider that is not connected is refused by name, and a key that Moyasar refuses is not kept', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('moyasar is not connected') },
  });
  expect(refusedKeys).toMatchObject([
    { status: 400, body: { message: expect.stringContaining('secret_key is') } },
    { status: 400, body: { message: 'encrypted_secret_data.secret_key is refused by moyasar' } },
  ]);
  expect(connection).toMatchObject({ provider_type: 'moyasar', status: 'published' });
});

test('an invoice is paid on the page of Moyasar, and its payer comes back to the shop', async () => {
  const session = await opened();
  const { url } = session.payment_action;
  expect(pageOf(session)).toMatchObject({
    url,
    amount: 2500,
    currency: 'SAR',
    metadata: { environment: base.scope.environmentId, kind: 'checkout_session', id: session.id },
  });
  const payWith = (card_number: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ card_number }), redirect: 'manual' });
  expect(await (await payWith(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  const back = new URL((await payWith(sandboxCardNumber('succeeds'))).headers.get('location') ?? '');
  const { statusCode, headers } = await app.inject({ method: 'GET', url: back.pathname });
  expect(statusCode).toBe(303);
  expect(headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
  expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({
    payment_status: 'SUCCEEDED',
    payment_gateway: 'moyasar',
    amount: '25',
    gateway_payment_id: books.paymentsOf(pageOf(session).id).at(-1)!.id,
  });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'SUCCEEDED',
  });
});

test('a payment link of a final invoice is a page of Moyasar behind our address', async () => {
  const { body: invoice } = await order('25', { checkout: undefined });
  const link = await api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'moyasar',
    amount: '25',
    currency: 'sar',
  });
  expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  const page = await app.inject({ url: new URL(link.body.payment_url).pathname });
  expect(page.body).toContain(pageOf(session).url);
  pay(session);
  await becomes(session, 'completed');
  expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('what Moyasar tells completes the session without anybody asking, by the invoice of the payment', async () => {
  const session = await opened();
  pay(session);
  const event = lastEvent('payment_paid');
  expect(event.data.metadata).toBeNull();
  const answers = await Promise.all(Array.from({ length: 5 }, () => notify(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect
    .poll(() => inboxOf({ base }, event.id), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  await becomes(session, 'completed');
});

test('an order whose answer was lost has one page, and is paid once', async () => {
  fake.failNext('open', 'loses_answer');
  const session = await opened();
  const ofOrder = [...books.invoices.values()].filter(({ metadata }) => metadata?.id === session.id);
  expect(ofOrder).toMatchObject([{ url: session.payment_action.url }]);
  pay(session);
  await becomes(session, 'completed');
  expect(books.paymentsOf(ofOrder[0]!.id)).toHaveLength(1);
});

test('a cancelled session closes the page; while a bank decides it cannot be cancelled', async () => {
  const waiting = await opened();
  pay(waiting, 'never_answers');
  const cancel = ({ id }: Body) => api<Body>('POST', `/checkout/sessions/${id}/cancel`);
  expect((await cancel(waiting)).status).toBe(400);
  expect(decide(books, pageOf(waiting).id, 'capture')).toBe(true);
  await becomes(waiting, 'completed');
  const session = await opened();
  expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
  expect(pageOf(session).status).toBe('canceled');
  expect(pay(session)).toBe('closed');
});

test('a cancellation that Moyasar does not hear: money that comes later goes back to its card', async () => {
  const session = await opened();
  fake.failNext('close', 'unreachable', 20);
  expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).body.checkout_status).toBe('expired');
  pay(session);
  expect((await notify(lastEvent('payment_paid'))).status).toBe(200);
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(books.paymentsOf(pageOf(session).id)).toMatchObject([{ status: 'refunded', refunded: 2500 }]);
});

test('a bank that confirms after the page was closed: the money goes back to its card', async () => {
  const session = await opened();
  pay(session, 'never_answers');
  const [attempt] = books.paymentsOf(pageOf(session).id);
  // So long ago that it counts as given up.
  attempt!.created_at = new Date(Date.now() - 31 * 60_000).toISOString();
  const cancelled = await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`);
  expect(cancelled.body.checkout_status).toBe('expired');
  expect(decide(books, pageOf(session).id, 'capture')).toBe(true);
  await notify(lastEvent('payment_paid'));
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
});

test('less than was asked, or another currency, never completes an order, and goes back', async () => {
  for (const [card, taken] of [
    ['captures_less', { refunded: 2499, currency: 'SAR' }],
    ['captures_otherwise', { refunded: 2500, currency: 'EUR' }],
  ] as const) {
    const session = await opened();
    pay(session, card);
    await notify(lastEvent('payment_paid'));
    await becomes(session, 'failed');
    expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
    await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
    expect(books.paymentsOf(pageOf(session).id)).toMatchObject([{ status: 'refunded', ...taken }]);
  }
});

test('an amount that Moyasar does not take is refused before a page is opened', async () => {
  const before = books.invoices.size;
  expect(await order('0.5')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('1 sar or more') },
  });
  expect(books.invoices.size).toBe(before);
});

test('cards are not saved: what would keep one is refused by name', async () => {
  const { id } = await customerOf(api);
  expect(await api('POST', `/payments/customers/${id}/setup/intent`, { provider: 'moyasar' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('moyasar saves no payment methods') },
  });
});

describe('refunds', () => {
  test('go back to the card, once, also when the answer is lost', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
    expect(payment.refunded).toBe(1000);
    await credit(invoiceId, '15');
    await expect.poll(() => payment, { timeout: 20_000 }).toMatchObject({ status: 'refunded', refunded: 2500 });
    await expect
      .poll(() => read(`/payments/${paymentId}`), { timeout: 20_000 })
      .toMatchObject({ payment_status: 'REFUNDED' });
  });
});

describe('notifications', () => {
  test('without the secret or with another are 401 and not kept; an exchanged secret stays valid', async () => {
    const event = lastEvent('payment_paid');
    const before = (await inboxBytes()).length;
    const problem = (message: string) => ({ status: 401, body: { message: expect.stringContaining(message) } });
    expect(await notify({ ...event, id: 'unsigned' }, null)).toMatchObject(problem('is not signed'));
    expect(await notify({ ...event, id: 'forged' }, 'mwh_2')).toMatchObject(problem('does not fit'));
    expect(await inboxBytes()).toHaveLength(before);
    const exchange = { encrypted_secret_data: { webhook_secret: 'mwh_2' } };
    expect((await api('PUT', `/connections/${connection.id}`, exchange)).status).toBe(200);
    expect((await notify({ ...event, id: 'new' }, 'mwh_2')).status).toBe(200);
    expect((await notify({ ...event, id: 'old' }, 'mwh_1')).status).toBe(200);
    expect(await inboxBytes()).toHaveLength(before + 2);
  });

  test('are kept without the secret that they came with', async () => {
    const kept = await inboxBytes();
    expect(kept.length).toBeGreaterThan(0);
    for (const { body } of kept) expect(Buffer.from(body).toString()).not.toMatch(/secret_token|mwh_/);
  });
});

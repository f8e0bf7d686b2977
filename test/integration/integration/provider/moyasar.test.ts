import { describe, expect, test } from 'vitest';
import { decide } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { monthlyPlan } from '../../../support/billing.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { moyasarWorld } from './moyasar.fixture.ts';

const world = await moyasarWorld('pages');
const { api, app, becomes, books, cancel, checkout, connect, credit, fake, kept, lastEvent, notify } = world;
const { opened, order, pageOf, paid, pay, read, refundsBecome } = world;
const unconnected = await order();
const refusedKeys = [await connect({ secret_key: 'sk_live_1' }), await connect({ secret_key: 'no_key' })];
const { body: connection } = await connect();

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
    metadata: { environment: world.base.scope.environmentId, kind: 'checkout_session', id: session.id },
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
    .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
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
  expect((await cancel(waiting)).status).toBe(400);
  expect(decide(books, pageOf(waiting).id, 'capture')).toBe(true);
  await becomes(waiting, 'completed');
  const session = await opened();
  expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
  expect(pageOf(session).status).toBe('canceled');
  expect(pay(session)).toBe('closed');
});

test('finding A4: a cancellation that Moyasar does not hear: money that comes later goes back to its card', async () => {
  const session = await opened();
  fake.failNext('close', 'unreachable', 20);
  expect((await cancel(session)).body.checkout_status).toBe('expired');
  pay(session);
  expect((await notify(lastEvent('payment_paid'))).status).toBe(200);
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(books.paymentsOf(pageOf(session).id)).toMatchObject([{ status: 'refunded', refunded: 2500 }]);
});

test('finding A3: a bank that confirms after the page was closed: the money goes back to its card', async () => {
  const session = await opened();
  pay(session, 'never_answers');
  const [attempt] = books.paymentsOf(pageOf(session).id);
  // So long ago that it counts as given up.
  attempt!.created_at = new Date(Date.now() - 31 * 60_000).toISOString();
  const cancelled = await cancel(session);
  expect(cancelled.body.checkout_status).toBe('expired');
  expect(decide(books, pageOf(session).id, 'capture')).toBe(true);
  await notify(lastEvent('payment_paid'));
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
});

test('finding A7: less than was asked, or another currency, never completes an order, and goes back', async () => {
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

test('without the publishable key no card is saved, and an order that would keep one is refused by name', async () => {
  const { id } = await customerOf(api);
  expect(await api('POST', `/payments/customers/${id}/setup/intent`, { provider: 'moyasar' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('has no publishable_key') },
  });
  const before = books.invoices.size;
  const keeping = { ...checkout, payment_provider_config: { collection_method: 'charge_automatically' } };
  const { planId } = await monthlyPlan(api);
  const terms = { customer_id: id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY', checkout: keeping };
  const refused = await api<Body>('POST', '/subscriptions', { ...terms, collection_method: 'charge_automatically' });
  expect(refused, JSON.stringify(refused.body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('moyasar') },
  });
  expect(books.invoices.size).toBe(before);
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
    const before = (await kept()).length;
    const problem = (message: string) => ({ status: 401, body: { message: expect.stringContaining(message) } });
    expect(await notify({ ...event, id: 'unsigned' }, null)).toMatchObject(problem('is not signed'));
    expect(await notify({ ...event, id: 'forged' }, 'mwh_2')).toMatchObject(problem('does not fit'));
    expect(await kept()).toHaveLength(before);
    const exchange = { encrypted_secret_data: { webhook_secret: 'mwh_2' } };
    expect((await api('PUT', `/connections/${connection.id}`, exchange)).status).toBe(200);
    expect((await notify({ ...event, id: 'new' }, 'mwh_2')).status).toBe(200);
    expect((await notify({ ...event, id: 'old' }, 'mwh_1')).status).toBe(200);
    expect(await kept()).toHaveLength(before + 2);
  });

  test('are kept without the secret that they came with', async () => {
    const rows = await kept();
    expect(rows.length).toBeGreaterThan(0);
    for (const { body } of rows) expect(Buffer.from(body as Buffer).toString()).not.toMatch(/secret_token|mwh_/);
  });
});

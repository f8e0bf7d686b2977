import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readProviderEvents } from '../../../../activities/integration/provider-events.ts';
import { captureBeside, decide } from '../../../../dev/provider-fakes/paddle/payment.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testSecretKeys } from '../../../support/secret-keys.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { paddleWorld } from './paddle.fixture.ts';

const world = await paddleWorld();
const { fake, providers, base, temporal, app, api, books, read, order, connect } = world;
const { opened, idOf, transactionOf, pay, becomes, refundsBecome, lastEvent, cancel, page, notify } = world;
const owner = new pg.Client({ connectionString: base.ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());
const unconnected = await order();
const refusedKeys = [await connect({ api_key: 'pdl_live_apikey_1' }), await connect({ api_key: 'no_key' })];
const { body: connection } = await connect();

test('a provider that is not connected is refused by name, and a key that Paddle refuses is not kept', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('paddle is not connected') },
  });
  expect(refusedKeys).toMatchObject([
    { status: 400, body: { message: expect.stringContaining('api_key is') } },
    { status: 400, body: { message: 'encrypted_secret_data.api_key is refused by paddle' } },
  ]);
  expect(connection).toMatchObject({ provider_type: 'paddle', status: 'published' });
});

test('an invoice is paid on our own page with Paddle’s script, and its payer comes back to the shop', async () => {
  const session = await opened();
  const { url } = session.payment_action;
  expect(transactionOf(session)).toMatchObject({
    checkout: { url: new URL(`${url}?_ptxn=${idOf(session)}`).href },
    currency_code: 'USD',
    details: { totals: { grand_total: '2500' } },
    custom_data: { environment: base.scope.environmentId, kind: 'checkout_session', id: session.id },
  });
  const shown = await page(url);
  expect(shown.headers['content-security-policy']).toContain(`frame-src ${fake.url};`);
  const [, scriptUrl = ''] = /<script src="([^"]+)">/.exec(shown.body) ?? [];
  expect(await (await fetch(scriptUrl)).text()).toContain('window.Paddle');
  expect(shown.body).toContain(`data-transaction="${idOf(session)}"`);
  expect(shown.body).toContain('data-token="test_pages"');
  expect(shown.body).not.toMatch(/pdl_sdbx|pwh_|card_number/);
  // The script in a browser: to Paddle with the token, and back by the address that asks what is true.
  const back = `${url}/return`;
  const overlay = `${fake.url}/pay/${idOf(session)}?${new URLSearchParams({ token: 'test_pages', back })}`;
  const payWith = (card_number: string) =>
    fetch(overlay, { method: 'POST', body: new URLSearchParams({ card_number }), redirect: 'manual' });
  expect(await (await payWith(sandboxCardNumber('declines'))).text()).toContain('The last attempt: error.');
  const unpaid = await page(back);
  expect(unpaid.headers.location).toBe(`${new URL(url).pathname}?returned=1`);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  expect((await payWith(sandboxCardNumber('succeeds'))).headers.get('location')).toBe(back);
  const returned = await page(back);
  expect(returned.headers.location).toBe(
    `https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`,
  );
  expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({
    payment_status: 'SUCCEEDED',
    payment_gateway: 'paddle',
    amount: '25',
    gateway_payment_id: idOf(session),
  });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'SUCCEEDED',
  });
  expect((await page(url)).body).not.toContain('paddle.js');
});

test('a payment link of a final invoice is our page with Paddle’s script', async () => {
  const { body: invoice } = await order('25', { checkout: undefined });
  const link = await api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'paddle',
    amount: '25',
    currency: 'usd',
  });
  expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  expect((await page(link.body.payment_url)).body).toContain(`data-transaction="${idOf(session)}"`);
  pay(session);
  await becomes(session, 'completed');
  expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('what Paddle tells completes the session without anybody asking', async () => {
  const session = await opened();
  pay(session);
  const event = lastEvent('transaction.paid');
  const answers = await Promise.all(Array.from({ length: 5 }, () => notify(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect
    .poll(() => world.inboxOf(event.event_id), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  await becomes(session, 'completed');
});

test('an order whose answer was lost has one transaction, and is paid once', async () => {
  fake.failNext('open', 'loses_answer');
  const session = await opened();
  const ofOrder = [...books.transactions.values()].filter(({ custom_data }) => custom_data?.id === session.id);
  expect(ofOrder.map(({ id }) => id)).toEqual([idOf(session)]);
  pay(session);
  await becomes(session, 'completed');
  expect(ofOrder[0]!.payments).toHaveLength(1);
});

test('finding A5: while a bank decides a session cannot be cancelled; one that was begun is closed at Paddle', async () => {
  const waiting = await opened();
  pay(waiting, 'never_answers');
  expect((await cancel(waiting)).status).toBe(400);
  expect(decide(books, idOf(waiting), 'capture')).toBe(true);
  await becomes(waiting, 'completed');
  const session = await opened();
  pay(session, 'declines');
  expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
  expect(transactionOf(session).status).toBe('canceled');
  expect(pay(session)).toBe('closed');
});

test.each([
  ['that nobody began and Paddle does not cancel', async () => undefined],
  ['whose cancellation Paddle does not hear', async () => fake.failNext('close', 'unreachable', 20)],
])('money for a session %s goes back to its card', async (_, before) => {
  const session = await opened();
  await before();
  expect((await cancel(session)).body.checkout_status).toBe('expired');
  expect((await page(session.payment_action.url)).body).not.toContain('paddle.js');
  pay(session);
  expect((await notify(lastEvent('transaction.paid'))).status).toBe(200);
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(books.refundsOf(idOf(session))).toMatchObject([{ status: 'approved', totals: { total: '2500' } }]);
});

test('finding A3: a bank that confirms after the transaction was cancelled: the money goes back to its card', async () => {
  const session = await opened();
  pay(session, 'declines');
  expect((await cancel(session)).body.checkout_status).toBe('expired');
  captureBeside(books, idOf(session));
  await notify(lastEvent('transaction.paid'));
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
});

test('finding A4: money that nobody told of is found in the list of events', async () => {
  const session = await opened();
  pay(session, 'declines');
  expect((await cancel(session)).body.checkout_status).toBe('expired');
  captureBeside(books, idOf(session));
  await owner.query(`update connection set events_asked_at = events_asked_at - interval '1 hour' where id = $1`, [
    connection.id,
  ]);
  const connected = { adapters: providers, secretKeys: testSecretKeys.secretEncryptionKeys };
  await readProviderEvents(base.database, temporal.client, connected);
  await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED', amount: '25' }]);
});

test('finding A7: less than was asked, or another currency, never completes an order, and goes back', async () => {
  for (const [card, taken] of [
    ['captures_less', { total: '2499', currency_code: 'USD' }],
    ['captures_otherwise', { total: '2500', currency_code: 'EUR' }],
  ] as const) {
    const session = await opened();
    pay(session, card);
    await notify(lastEvent('transaction.paid'));
    await becomes(session, 'failed');
    expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
    await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
    expect(books.refundsOf(idOf(session))).toMatchObject([{ status: 'approved', totals: taken }]);
  }
});

test('what Paddle cannot take is refused before anything is opened', async () => {
  const before = books.transactions.size;
  expect(await order('25', { currency: 'aed' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('paddle takes no payments in aed') },
  });
  const { id } = await customerOf(api);
  expect(await api('POST', `/payments/customers/${id}/setup/intent`, { provider: 'paddle' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('paddle saves no payment methods') },
  });
  expect(books.transactions.size).toBe(before);
});

describe('notifications', () => {
  test('unsigned, forged or late are 400 and not kept; an exchanged secret stays valid', async () => {
    const event = lastEvent('transaction.paid');
    const before = (await world.kept()).length;
    const problem = (message: string) => ({ status: 400, body: { message: expect.stringContaining(message) } });
    expect(await notify({ ...event, event_id: 'forged' }, 'pwh_2')).toMatchObject(problem('does not fit'));
    const late = Date.now() - 600_000;
    expect(await notify({ ...event, event_id: 'late' }, 'pwh_1', late)).toMatchObject(problem('more than 5 minutes'));
    const url = `/v1/webhooks/paddle/${base.scope.tenantId}/${base.scope.environmentId}`;
    const unsigned = await app.inject({ method: 'POST', url, payload: JSON.stringify(event) });
    expect({ status: unsigned.statusCode, body: unsigned.json() }).toMatchObject(problem('is not signed'));
    expect(await world.kept()).toHaveLength(before);
    const exchange = { encrypted_secret_data: { webhook_secret: 'pwh_2' } };
    expect((await api('PUT', `/connections/${connection.id}`, exchange)).status).toBe(200);
    expect((await notify({ ...event, event_id: 'new' }, 'pwh_2')).status).toBe(200);
    expect((await notify({ ...event, event_id: 'old' }, 'pwh_1')).status).toBe(200);
    expect(await world.kept()).toHaveLength(before + 2);
  });
});

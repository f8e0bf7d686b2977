import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { captureBeside, decide } from '../../../../dev/provider-fakes/chargebee/payment.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { type Body, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { chargebeeWorld } from './chargebee.fixture.ts';

const world = await chargebeeWorld();
const { api, app, base, books, fake, opened, order, page, pay, payments, becomes, read, refundsBecome } = world;
const { cancel, lastEvent, notify } = world;

const unconnected = await order();
const refused = [await world.connect({ api_key: 'no_key' }), await world.connect({ webhook_username: 'a:b' })];
const { body: connection } = await world.connect();

const rows = <Row extends Record<string, unknown>>(text: string, id: string) =>
  inSqlTransaction(base.database, base.scope, (tx) => tx.rows<Row>(text, [id]));
const linkState = async ({ id }: Body) =>
  (await rows<{ link_state: string }>('select link_state from checkout_session where id = $1', id))[0]?.link_state;
const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };

test('a provider that is not connected is refused by name, and a key that Chargebee refuses is not kept', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('chargebee is not connected') },
  });
  expect(refused).toMatchObject([
    { status: 400, body: { message: 'encrypted_secret_data.api_key is refused by chargebee' } },
    { status: 400, body: { message: expect.stringContaining('webhook_username must have no colon') } },
  ]);
  expect(connection).toMatchObject({ provider_type: 'chargebee', status: 'published' });
});

test('finding A1: while a page can be paid the connection takes another key of its site, and none of another site', async () => {
  const session = await opened();
  const change = (site: string, api_key: string) =>
    api<Body>('PUT', `/connections/${connection.id}`, {
      encrypted_secret_data: { site, api_key, webhook_username: 'hook', webhook_password: 'one' },
    });
  expect((await change('other-test', 'test_other')).status).toBe(400);
  expect((await change('acme-test', 'test_pages')).status).toBe(200);
  pay(session);
  await becomes(session, 'completed');
});

test('an invoice is paid on the page of Chargebee, and its payer comes back to the shop', async () => {
  const session = await opened();
  const { url } = session.payment_action;
  expect(page(session).url).toBe(url);
  const payWith = (card_number: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ card_number }), redirect: 'manual' });
  expect(await (await payWith(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failure.');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  const location = new URL((await payWith(sandboxCardNumber('succeeds'))).headers.get('location') ?? '');
  const { statusCode, headers } = await app.inject({ method: 'GET', url: location.pathname + location.search });
  expect(statusCode).toBe(303);
  expect(headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
  expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({
    payment_status: 'SUCCEEDED',
    payment_gateway: 'chargebee',
    amount: '25',
    gateway_payment_id: payments(session).at(-1)!.id,
  });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'SUCCEEDED',
  });
  expect(books.mailed).toEqual([]);
});

test('a payment link of a final invoice is a page of Chargebee behind our address', async () => {
  const { body: invoice } = await order('25', { checkout: undefined });
  const link = await api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'chargebee',
    amount: '25',
    currency: 'usd',
  });
  expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  const shown = await app.inject({ url: new URL(link.body.payment_url).pathname });
  expect(shown.body).toContain(page(session).url);
  pay(session);
  await becomes(session, 'completed');
  expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('what Chargebee tells completes the session without anybody asking', async () => {
  const session = await opened();
  pay(session);
  const event = lastEvent('payment_succeeded');
  const answers = await Promise.all(Array.from({ length: 5 }, () => notify(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect
    .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  await becomes(session, 'completed');
});

test('what a notification says is not believed: an unpaid page stays unpaid', async () => {
  const session = await opened();
  const { customerId } = books.orders.get(page(session).id)!;
  const transaction = { id: 'txn_forged', type: 'payment', status: 'success', amount: 2500, currency_code: 'USD' };
  const content = { transaction, customer: books.customers.get(customerId) };
  expect((await notify({ id: 'ev_forged', event_type: 'payment_succeeded', content })).status).toBe(200);
  await expect
    .poll(() => world.inboxOf('ev_forged'), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_id: session.id });
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  pay(session);
  await becomes(session, 'completed');
});

test('an order whose answer was lost has one page, and is paid once', async () => {
  fake.failNext('open', 'loses_answer');
  const session = await opened();
  const ofOrder = [...books.pages.values()].filter(({ pass_thru_content }) => pass_thru_content?.includes(session.id));
  expect(ofOrder).toMatchObject([{ url: session.payment_action.url }]);
  pay(session);
  await becomes(session, 'completed');
  expect(payments(session)).toHaveLength(1);
});

describe('finding A4: nobody looks after the session has ended: a cancelled session, whose page nobody can close,', () => {
  const lastLookOf = async ({ id }: Body) => {
    const [entry] = await rows<{ due_at: string }>(
      `select due_at from agenda_entry where object_id = $1 and kind = 'lastLook'`,
      id,
    );
    return entry && new Date(entry.due_at).toISOString();
  };

  test('is watched until the page is over', async () => {
    const session = await opened();
    expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
    expect(await linkState(session)).toBe('open');
    expect(await lastLookOf(session)).toBe(new Date((page(session).expires_at + 15 * 60) * 1000).toISOString());
    page(session).expires_at = Math.floor(Date.now() / 1000) - 300;
    await expect.poll(() => linkState(session), { timeout: 20_000 }).toBe('dead');
    expect(await lastLookOf(session)).toBeUndefined();
  });

  test('is looked at one last time a quarter of an hour after the end of the page, whatever Chargebee says', async () => {
    const session = await opened();
    pay(session, 'declines');
    await cancel(session);
    await rows(
      `update checkout_session set ended_at = ended_at - interval '4 hours', provider_expires_at = provider_expires_at - interval '4 hours'
       where id = $1 returning id`,
      session.id,
    );
    const looks = () => books.looks.get(page(session).id) ?? 0;
    const before = looks();
    await notify(lastEvent('payment_failed'));
    await expect.poll(() => linkState(session), { timeout: 20_000 }).toBe('dead');
    expect(looks()).toBeGreaterThan(before);
    expect(page(session).expires_at).toBeGreaterThan(Date.now() / 1000);
  });
});

test('finding A4: money on the page of a cancelled session is found without being told of, and goes back to its card', async () => {
  const session = await opened();
  expect((await cancel(session)).body.checkout_status).toBe('expired');
  expect(pay(session)).toBe('success');
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(payments(session)).toMatchObject([{ linked_refunds: [{ txn_status: 'success', txn_amount: 2500 }] }]);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'expired' });
});

test('money after the end of the page is told of, and goes back to its card', async () => {
  const session = await opened();
  await cancel(session);
  page(session).expires_at = Math.floor(Date.now() / 1000) - 300;
  await expect.poll(() => linkState(session), { timeout: 20_000 }).toBe('dead');
  const late = captureBeside(books, page(session).id);
  expect((await notify(lastEvent('payment_succeeded'))).status).toBe(200);
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(late).toMatchObject({ amount_unused: 0, linked_refunds: [{ txn_amount: 2500 }] });
});

test('finding A5: while a bank decides a session cannot be cancelled', async () => {
  const session = await opened();
  pay(session, 'never_answers');
  expect((await cancel(session)).status).toBe(400);
  expect(decide(books, page(session).id, 'capture')).toBe(true);
  await notify(lastEvent('payment_succeeded'));
  await becomes(session, 'completed');
});

test('finding A7: less than was asked, or another currency, never completes an order, and goes back', async () => {
  for (const [card, taken] of [
    ['captures_less', { currency_code: 'USD', linked_refunds: [{ txn_amount: 2499 }] }],
    ['captures_otherwise', { currency_code: 'EUR', linked_refunds: [{ txn_amount: 2500 }] }],
  ] as const) {
    const session = await opened();
    pay(session, card);
    await notify(lastEvent('payment_succeeded'));
    await becomes(session, 'failed');
    expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
    await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
    expect(payments(session)).toMatchObject([taken]);
  }
});

test('a currency that Chargebee cannot express is refused before a page is opened', async () => {
  const before = books.pages.size;
  expect(await order('25', { currency: 'kwd', checkout: world.checkout })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('takes no payments in kwd') },
  });
  expect(books.pages.size).toBe(before);
});

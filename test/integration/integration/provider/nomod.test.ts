import { describe, expect, test } from 'vitest';
import { captureBeside, decide } from '../../../../dev/provider-fakes/nomod/payment.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { nomodWorld } from './nomod.fixture.ts';

const world = await nomodWorld();
const { fake, app, api, books, checkout, read, connect, order, pageOf, pay, opened, lastEvent, notify } = world;
const { becomes, cancel, credit, refundsBecome } = world;

const unconnected = await order();
const refusedKey = await connect({ api_key: 'no_key' });
const { body: connection } = await connect();

const givenBack = (session: Body) => pageOf(session).charges.map(({ id }) => books.givenBack(id).toString());

/** An invoice of 25 that was paid on the page of Nomod. */
async function paid(card: SandboxBehaviour = 'succeeds', count = 0) {
  const session = await opened();
  pay(session, card, count);
  await becomes(session, 'completed');
  return { session, paymentId: session.checkout_payment_id, invoiceId: session.checkout_invoice_id };
}

test('a provider that is not connected is refused by name, and a key that Nomod refuses is not kept', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('nomod is not connected') },
  });
  const message = 'encrypted_secret_data.api_key is refused by nomod';
  expect(refusedKey).toMatchObject({ status: 400, body: { message } });
  expect(connection).toMatchObject({ provider_type: 'nomod', status: 'published' });
});

test('an invoice is paid on the page of Nomod, and its payer comes back to the shop', async () => {
  const session = await opened();
  const { url } = session.payment_action;
  expect(pageOf(session)).toMatchObject({
    url,
    amount: 25,
    currency: 'AED',
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
    payment_gateway: 'nomod',
    amount: '25',
    gateway_payment_id: `${pageOf(session).id}/${pageOf(session).charges.at(-1)!.id}`,
  });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'SUCCEEDED',
  });
});

test('a payment link of a final invoice is a page of Nomod behind our address', async () => {
  const { body: invoice } = await order('25', { checkout: undefined });
  const link = await api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'nomod',
    amount: '25',
    currency: 'aed',
  });
  expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  const page = await app.inject({ url: new URL(link.body.payment_url).pathname });
  expect(page.body).toContain(pageOf(session).url);
  pay(session);
  await becomes(session, 'completed');
  expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('what Nomod tells completes the session without anybody asking, by the page of the charge', async () => {
  const session = await opened();
  pay(session);
  const { messageId, body } = lastEvent('charge.completed');
  const { metadata: _, ...data } = body.data;
  const event = { messageId, body: { ...body, data } };
  const answers = await Promise.all(Array.from({ length: 5 }, () => notify(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect
    .poll(() => world.inboxOf(messageId), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  await becomes(session, 'completed');
});

test('a notification that names the charge alone is nobody’s, and the money is found by asking', async () => {
  const session = await opened();
  pay(session);
  const { messageId, body } = lastEvent('charge.completed');
  const { checkout: _, metadata: __, ...data } = body.data;
  expect((await notify({ messageId, body: { ...body, data } })).status).toBe(200);
  await expect
    .poll(() => world.inboxOf(messageId), { timeout: 20_000 })
    .toMatchObject({ outcome: 'not_ours', object_id: null });
  await becomes(session, 'completed');
});

test('an order whose answer was lost shows one page, and is paid once', async () => {
  fake.failNext('open', 'loses_answer');
  const session = await opened();
  const ofOrder = [...books.checkouts.values()].filter(({ metadata }) => metadata.id === session.id);
  expect(ofOrder.map(({ url }) => url)).toContain(session.payment_action.url);
  expect(ofOrder).toHaveLength(2);
  pay(session);
  await becomes(session, 'completed');
  expect(ofOrder.flatMap(({ charges }) => charges)).toHaveLength(1);
});

test('finding A5: while a bank decides a session cannot be cancelled; no page is closed, and money for a cancelled one goes back', async () => {
  const waiting = await opened();
  pay(waiting, 'never_answers');
  expect((await cancel(waiting)).status).toBe(400);
  expect(decide(books, pageOf(waiting).id, 'capture')).toBe(true);
  await becomes(waiting, 'completed');
  const session = await opened();
  expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
  expect(pageOf(session).status).toBe('created');
  expect(pay(session)).toBe('paid');
  expect((await notify(lastEvent('charge.completed'))).status).toBe(200);
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await refundsBecome(session.checkout_payment_id, [back]);
  expect(givenBack(session)).toEqual(['25']);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'expired' });
});

test('finding A3: a session that Nomod ends ends here, and what a bank confirms after it goes back', async () => {
  const session = await opened();
  pageOf(session).status = 'expired';
  await becomes(session, 'failed');
  expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'link_ended' });
  captureBeside(books, pageOf(session).id);
  await notify(lastEvent('charge.completed'));
  await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED', amount: '25' }]);
  expect(givenBack(session)).toEqual(['25']);
});

test('finding A8: a second capture of a page that is paid is a payment of its own, and goes back', async () => {
  const { session } = await paid();
  captureBeside(books, pageOf(session).id);
  await notify(lastEvent('charge.completed'));
  await expect.poll(() => givenBack(session), { timeout: 20_000 }).toEqual(['0', '25']);
  expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({ payment_status: 'SUCCEEDED' });
});

test('finding A7: less than was asked, or another currency, never completes an order, and goes back', async () => {
  for (const [card, taken] of [
    ['captures_less', '24.99'],
    ['captures_otherwise', '25'],
  ] as const) {
    const session = await opened();
    pay(session, card);
    await notify(lastEvent('charge.completed'));
    await becomes(session, 'failed');
    expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
    await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
    expect(givenBack(session)).toEqual([taken]);
  }
});

test('what Nomod cannot do is refused by name before a page is opened', async () => {
  const before = books.checkouts.size;
  const { id } = await customerOf(api, { contact: '+971501234567' });
  const upi = { ...checkout, payment_provider_config: { payment_method: 'UPI' } };
  expect(await order('25', { customer_id: id, checkout: upi })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('nomod takes no UPI') },
  });
  expect(await api('POST', `/payments/customers/${id}/setup/intent`, { provider: 'nomod' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('nomod saves no payment methods') },
  });
  expect(books.checkouts.size).toBe(before);
});

describe('refunds', () => {
  test('go back to the card, once, also when the answer is lost', async () => {
    const { session, paymentId, invoiceId } = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
    expect(givenBack(session)).toEqual(['10']);
    await credit(invoiceId, '15');
    await expect.poll(() => givenBack(session), { timeout: 20_000 }).toEqual(['25']);
    await expect
      .poll(() => read(`/payments/${paymentId}`), { timeout: 20_000 })
      .toMatchObject({ payment_status: 'REFUNDED' });
  });

  test('that take time are asked about until they are done', async () => {
    const { session, paymentId, invoiceId } = await paid('refund_answers_late', 1);
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', amount: '10' }]);
    expect(givenBack(session)).toEqual(['10']);
  });
});

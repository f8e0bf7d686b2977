import { expect, test } from 'vitest';
import { authorize, capture, newPayment } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { monthlyPlan } from '../../../support/billing.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { razorpayWorld } from './razorpay.fixture.ts';

const world = await razorpayWorld('pages');
const { api, app, books, checkout, fake, opened, pay, becomes, read, linkOf, notify, lastEvent } = world;

const unconnected = await world.order();
const refusedKeys = await Promise.all([
  world.connect({ secret_key: 'wrong' }),
  world.connect({ key_id: 'rzp_unknown' }),
]);
const { body: connection } = await world.connect();

test('a provider that is not connected is refused by name, and a key that Razorpay refuses is not kept', () => {
  expect(unconnected).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('razorpay is not connected') },
  });
  expect(refusedKeys).toMatchObject([
    { status: 400, body: { message: 'encrypted_secret_data.secret_key is refused by razorpay' } },
    { status: 400, body: { message: 'encrypted_secret_data.key_id is refused by razorpay' } },
  ]);
  expect(connection).toMatchObject({ provider_type: 'razorpay', status: 'published' });
});

test('an invoice is paid on the page of Razorpay, and its payer comes back to the shop', async () => {
  const session = await opened();
  expect(session).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  const { url } = session.payment_action;
  expect(linkOf(session)).toMatchObject({
    short_url: url,
    amount: 2500,
    currency: 'USD',
    notes: { environment: world.base.scope.environmentId, kind: 'checkout_session', id: session.id },
  });
  const payWith = (card_number: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ card_number }), redirect: 'manual' });
  expect(await (await payWith(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
  const back = new URL((await payWith(sandboxCardNumber('succeeds'))).headers.get('location') ?? '');
  const { statusCode, headers } = await app.inject({ method: 'GET', url: back.pathname + back.search });
  expect(statusCode).toBe(303);
  expect(headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
  const payment = await read(`/payments/${session.checkout_payment_id}`);
  expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_gateway: 'razorpay', amount: '25' });
  expect(books.payments.get(payment.gateway_payment_id)).toMatchObject({ status: 'captured', amount: 2500 });
  expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'SUCCEEDED',
  });
});

test('a payment link of a final invoice is one of Razorpay behind our address', async () => {
  const { body: invoice } = await world.order('25', { checkout: undefined });
  const link = await api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'razorpay',
    amount: '25',
    currency: 'usd',
  });
  expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  const page = await app.inject({ url: new URL(link.body.payment_url).pathname });
  expect(page.body).toContain(linkOf(session).short_url);
  pay(session);
  await becomes(session, 'completed');
  expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('what Razorpay tells completes the session without anybody asking, and ten repeats are one event', async () => {
  const session = await opened();
  pay(session);
  const event = lastEvent('payment_link.paid');
  const before = (await world.kept()).length;
  const answers = await Promise.all(Array.from({ length: 10 }, () => notify(event)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await world.kept()).toHaveLength(before + 1);
  await expect
    .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
    .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
  const { items } = await read(`/checkout/sessions?invoice_id=${session.checkout_invoice_id}`);
  expect(items).toMatchObject([{ id: session.id }]);
  await becomes(session, 'completed');
});

test('an order whose answer was lost has one page, and is paid once', async () => {
  fake.failNext('open', 'loses_answer');
  const session = await opened();
  const ofOrder = [...books.links.values()].filter(({ notes }) => 'id' in notes && notes.id === session.id);
  expect(ofOrder).toMatchObject([{ short_url: session.payment_action.url }]);
  pay(session);
  fake.failNext('read', 'unreachable', 2);
  await notify(lastEvent('payment_link.paid'));
  await becomes(session, 'completed');
  expect(books.paymentsOf(ofOrder[0]!)).toHaveLength(1);
});

test('finding A5: money that Razorpay only reserved is captured, and the order goes through', async () => {
  const session = await opened();
  const payment = newPayment(books, linkOf(session));
  authorize(books, payment);
  expect((await notify(lastEvent('payment.authorized'))).status).toBe(200);
  await becomes(session, 'completed');
  expect(payment).toMatchObject({ status: 'captured', captured: true });
});

test('a cancelled session closes the page, while a bank decides it cannot be cancelled', async () => {
  const session = await opened();
  const refused = await api<Body>('DELETE', `/connections/${connection.id}`);
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/\d+ checkout sessions/) } });
  expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).body).toMatchObject({
    checkout_status: 'expired',
    failure_reason: 'cancelled',
  });
  expect(linkOf(session).status).toBe('cancelled');
  expect(pay(session)).toBe('closed');
  const deciding = await opened();
  expect(pay(deciding, 'never_answers')).toBe('processing');
  const cancelled = await api<Body>('POST', `/checkout/sessions/${deciding.id}/cancel`);
  expect(cancelled).toMatchObject({ status: 400, body: { message: expect.stringContaining('is being processed') } });
  capture(books, [...books.payments.values()].at(-1)!);
  await becomes(deciding, 'completed');
});

test('finding A4: a cancellation that Razorpay does not hear: money that comes later goes back to its card', async () => {
  const session = await opened();
  fake.failNext('close', 'unreachable', 20);
  expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).body.checkout_status).toBe('expired');
  pay(session);
  await notify(lastEvent('payment_link.paid'));
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  await world.refundsBecome(session.checkout_payment_id, [back]);
  expect(books.returned().map(({ amount }) => amount)).toContain('25');
});

test('finding A8: a bank that confirms after the page was closed, or beside what was paid: the money goes back to its card', async () => {
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };
  const cancelled = await opened();
  await api<Body>('POST', `/checkout/sessions/${cancelled.id}/cancel`);
  capture(books, newPayment(books, linkOf(cancelled)));
  await notify(lastEvent('payment.captured'));
  await world.refundsBecome(cancelled.checkout_payment_id, [back]);

  const paid = await opened();
  pay(paid);
  const told = lastEvent('payment.captured');
  await notify(told);
  await becomes(paid, 'completed');
  // A recorded payment is not asked about again.
  const again = { ...told, id: 'evt_again' };
  await notify(again);
  await expect.poll(() => world.inboxOf(again.id), { timeout: 20_000 }).toMatchObject({ outcome: 'settled' });
  capture(books, newPayment(books, linkOf(paid)));
  await notify(lastEvent('payment.captured'));
  const payments = async () => (await read(`/payments?destination_id=${paid.checkout_invoice_id}`)).items as Body[];
  await expect.poll(payments, { timeout: 20_000 }).toHaveLength(2);
  const second = (await payments()).find(({ id }) => id !== paid.checkout_payment_id);
  await world.refundsBecome(second!.id, [back]);
  expect(await read(`/invoices/${paid.checkout_invoice_id}`)).toMatchObject({
    amount_paid: '25',
    overpaid_amount: '0',
  });
});

test('finding A7: less than was asked, or another currency, never completes an order, and goes back', async () => {
  for (const [card, taken] of [
    ['captures_less', { amount: 2499, currency: 'USD' }],
    ['captures_otherwise', { amount: 2500, currency: 'EUR' }],
  ] as const) {
    const session = await opened();
    pay(session, card);
    await notify(lastEvent('payment_link.paid'));
    await becomes(session, 'failed');
    expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
    await world.refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
    const [payment] = books.paymentsOf(linkOf(session));
    expect(books.refundsOf(payment!.id)).toMatchObject([{ ...taken, status: 'processed' }]);
  }
});

test('an amount that Razorpay cannot express is refused before a page is opened', async () => {
  const before = books.links.size;
  const { status, body } = await world.order('0.5', { currency: 'inr', checkout });
  expect({ status, body }).toMatchObject({ status: 400, body: { message: expect.stringContaining('1 inr or more') } });
  expect(books.links.size).toBe(before);
});

test('finding B25: UPI without a telephone number of the payer is refused by name, before a page is opened', async () => {
  const before = books.links.size;
  const upi = { ...checkout, payment_provider_config: { payment_method: 'UPI' } };
  const { status, body } = await world.order('25', { currency: 'inr', checkout: upi });
  expect([status, body.code], JSON.stringify(body)).toEqual([400, 'validation_error']);
  expect(body.message).toContain('contact');
  expect(books.links.size).toBe(before);
});

test('a page offers UPI where an order asks for it', async () => {
  const upi = { ...checkout, payment_provider_config: { payment_method: 'UPI' } };
  const { id: customer_id } = await customerOf(api, { contact: '+919876543210' });
  const { status, body } = await world.order('25', { customer_id, currency: 'inr', checkout: upi });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(linkOf(body.checkout_session)).toMatchObject({ method: 'upi', currency: 'INR', amount: 2500 });
  pay(body.checkout_session);
  await becomes(body.checkout_session, 'completed');
  expect(await world.order('26', { customer_id, checkout: upi })).toMatchObject({
    status: 400,
    body: { message: 'usd cannot be paid by UPI: razorpay takes UPI in inr alone' },
  });
});

test('the card of a payment is not kept: an order that is charged again is refused by name, and the rest is as for anybody without a card', async () => {
  const customer = await customerOf(api);
  const refused = { status: 400, body: { message: expect.stringContaining('razorpay keeps no method of a payment') } };
  const { planId } = await monthlyPlan(api);
  const subscription = { customer_id: customer.id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
  const automatic = { ...subscription, collection_method: 'charge_automatically', checkout };
  expect(await api<Body>('POST', '/subscriptions', automatic)).toMatchObject(refused);
  const ordered = await api<Body>('POST', '/subscriptions', { ...subscription, checkout });
  expect(ordered.status, JSON.stringify(ordered.body)).toBe(201);
  pay(ordered.body.checkout_session);
  await becomes(ordered.body.checkout_session, 'completed');
  expect((await read(`/customers/${customer.id}/payment-methods`)).items).toEqual([]);
  const config = { collection_method: 'charge_automatically' };
  const order = invoiceOf(customer.id, '9', { checkout: { ...checkout, payment_provider_config: config } });
  const { body: invoice } = await api<Body>('POST', '/invoices', order);
  expect(invoice.checkout_session).toMatchObject({
    checkout_status: 'pending',
    payment_action: { type: 'checkout_url' },
  });
  const { body: unpaid } = await api<Body>('POST', '/invoices', invoiceOf(customer.id, '7', { checkout: undefined }));
  const attempted = await api<Body>('POST', `/invoices/${unpaid.id}/payment/attempt`);
  const nothing = { status: 200, body: { message: expect.stringContaining('no payment method is saved') } };
  expect(attempted).toMatchObject(nothing);
  expect(await read(`/invoices/${unpaid.id}`)).toMatchObject({ payment_status: 'PENDING', amount_remaining: '7' });
});

test('a wallet that fills itself charges nobody who has no card, and its invoice can be paid on a page', async () => {
  const customer = await customerOf(api);
  const auto_topup = { enabled: true, threshold: 20, amount: 50, invoicing: true };
  const terms = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '100', auto_topup };
  const { body: wallet } = await api<Body>('POST', '/wallets', terms);
  const debit = { credits: '90', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: `debit-${wallet.id}` };
  await api<Body>('POST', `/wallets/${wallet.id}/debit`, debit);
  const invoices = `/invoices?customer_id=${customer.id}`;
  await expect.poll(async () => (await read(invoices)).items, { timeout: 20_000 }).toHaveLength(1);
  const [invoice] = (await read(invoices)).items;
  expect(invoice).toMatchObject({ payment_status: 'PENDING', amount_remaining: '50' });
  const link = { destination_type: 'INVOICE', destination_id: invoice.id, payment_method_type: 'PAYMENT_LINK' };
  const money = { payment_gateway: 'razorpay', amount: '50', currency: 'usd' };
  const { status, body } = await api<Body>('POST', '/payments', { ...link, ...money });
  expect(status, JSON.stringify(body)).toBe(201);
  const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
  pay(session);
  await becomes(session, 'completed');
  await expect
    .poll(() => read(`/wallets/${wallet.id}`), { timeout: 20_000 })
    .toMatchObject({ balance: expect.stringMatching(/^60/) });
});

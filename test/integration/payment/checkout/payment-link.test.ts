import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../../support/billing.ts';
import { type Body, customerOf, payAtSandbox } from './checkout.fixture.ts';

const { api, app, gateway } = await testPlatform();
const plan = await monthlyPlan(api);

/** A finalized invoice of 25 that nobody has paid. */
async function unpaid(customerId?: string): Promise<Body> {
  const customer_id = customerId ?? (await customerOf(api)).id;
  const line_items = [{ display_name: 'Onboarding', quantity: '1', amount: '25' }];
  const invoice = { customer_id, currency: 'usd', subtotal: '25', total: '25', amount_due: '25', line_items };
  const { id } = await created<Body>(api, '/invoices', invoice);
  return readInvoice(id);
}
const readInvoice = async (id: string): Promise<Body> => (await api<Body>('GET', `/invoices/${id}`)).body;
const readPayment = async (id: string): Promise<Body> => (await api<Body>('GET', `/payments/${id}`)).body;
const link = (invoiceId: string, more: object = {}) =>
  api<Body>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'sandbox',
    amount: '25',
    currency: 'usd',
    ...more,
  });
const sessionOf = async (invoiceId: string): Promise<Body> =>
  (await api<Body>('GET', `/checkout/sessions?invoice_id=${invoiceId}&checkout_status=pending`)).body.items[0];
async function linked(): Promise<{ invoice: Body; payment: Body; session: Body }> {
  const invoice = await unpaid();
  const { status, body: payment } = await link(invoice.id);
  expect(status, JSON.stringify(payment)).toBe(201);
  return { invoice, payment, session: await sessionOf(invoice.id) };
}
const post = async (path: string, fields: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
const formToken = (page: string) => /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** An invoice whose first automatic charge was declined; the next one comes after a day. */
async function declinedOnce(): Promise<{ clockId: string; invoice: Body }> {
  const { clockId, customerId } = await clockedCustomer(api, {
    frozenTime: '2026-04-01T00:00:00Z',
    card: sandboxCardNumber('declines_times', 1),
  });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const [invoice] = (await api<Body>('GET', `/invoices?subscription_id=${id}`)).body.items;
  expect(invoice).toMatchObject({ payment_status: 'PENDING', amount_remaining: '30' });
  // A slow worker may still be at the charge when the subscription is answered.
  await expect.poll(() => paymentStates(invoice.id), { timeout: 20_000 }).toEqual(['FAILED']);
  return { clockId, invoice };
}
const paymentStates = async (invoiceId: string): Promise<string[]> => {
  const { body } = await api<Body>('GET', `/payments?destination_id=${invoiceId}`);
  return body.items.map((one: Body) => one.payment_status).sort();
};

test('an invoice is paid by its link: a page of ours, for what remains, paid once', async () => {
  const { invoice, payment, session } = await linked();
  expect(payment).toMatchObject({ payment_status: 'PENDING', payment_method_type: 'PAYMENT_LINK', amount: '25' });
  expect(payment.payment_url).toMatch(/\/checkout\/[a-z2-7]{26}$/);
  expect(session).toMatchObject({ action: 'pay_invoice', checkout_payment_id: payment.id });
  expect((await link(invoice.id)).body.id).toBe(payment.id);
  const page = await app.inject({ url: `${new URL(payment.payment_url).pathname}?lang=en` });
  expect(page.body).toContain('Onboarding');
  expect(await payAtSandbox(gateway, session)).toMatchObject({ status: 'paid' });
  expect(await readPayment(payment.id)).toMatchObject({ payment_status: 'SUCCEEDED', payment_url: null });
  expect(await readInvoice(invoice.id)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '25' });
  expect(await link(invoice.id, { idempotency_key: 'again' })).toMatchObject({ status: 400 });
});

test('finding A9: one forgotten link stops nothing for ever: it ends, and a click opens a new page for what remains then', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const invoice = await unpaid(customerId);
  const { body: payment } = await link(invoice.id);
  const path = new URL(payment.payment_url).pathname;
  await advanceTo(api, clockId, '2026-04-03T00:00:00Z');
  expect(await readPayment(payment.id)).toMatchObject({ payment_status: 'FAILED', payment_url: payment.payment_url });
  await created(api, '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'OFFLINE',
    amount: '10',
    currency: 'usd',
  });
  const ended = await app.inject({ url: `${path}?lang=en` });
  expect(ended.body).toContain('Pay now');
  expect((await post(`${path}/again`, { form_token: 'guessed' })).statusCode).toBe(403);
  const opened = await post(`${path}/again?lang=en`, { form_token: formToken(ended.body) });
  expect(opened.statusCode).toBe(303);
  const next = String(opened.headers.location);
  expect(next).not.toContain(path);
  const page = await app.inject({ url: next });
  expect(page.body).toContain('$15.00');
  // A second tab of the ended page is led to the same one.
  expect((await post(`${path}/again?lang=en`, { form_token: formToken(ended.body) })).headers.location).toBe(next);
  const fields = { form_token: formToken(page.body), card_number: sandboxCardNumber('succeeds') };
  await post(`${new URL(next, 'http://localhost').pathname}/pay?lang=en`, fields);
  expect(await readInvoice(invoice.id)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '25' });
  expect((await app.inject({ url: path })).body).not.toContain('form_token');
});

test('finding A9: a payment link paid while the automatic charge runs: the charge waits for the link, and nothing is paid twice', async () => {
  const { clockId, invoice } = await declinedOnce();
  const { body: payment } = await link(invoice.id, { amount: '30' });
  expect(payment.payment_status).toBe('PENDING');
  expect(await api<Body>('POST', `/invoices/${invoice.id}/payment/attempt`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation' },
  });
  await payAtSandbox(gateway, await sessionOf(invoice.id));
  await advanceTo(api, clockId, '2026-04-20T00:00:00Z');
  expect(await readInvoice(invoice.id)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30' });
  expect(await paymentStates(invoice.id)).toEqual(['FAILED', 'SUCCEEDED']);
});

test('once the link has ended the invoice is charged again', async () => {
  const { clockId, invoice } = await declinedOnce();
  await link(invoice.id, { amount: '30' });
  await advanceTo(api, clockId, '2026-04-20T00:00:00Z');
  expect(await readInvoice(invoice.id)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30' });
});

test.each([
  ['void', async ({ id }: Body) => api<Body>('POST', `/invoices/${id}/void`)],
  [
    'payment by hand',
    async ({ id }: Body) => api<Body>('PUT', `/invoices/${id}/payment`, { payment_status: 'SUCCEEDED', amount: '25' }),
  ],
  [
    'credit note',
    async ({ id, line_items: [line] }: Body) =>
      api<Body>('POST', '/creditnotes', {
        invoice_id: id,
        reason: 'BILLING_ERROR',
        line_items: [{ invoice_line_item_id: line.id, amount: '5' }],
      }),
  ],
])(
  'finding A9: a %s changes what remains: it ends the link with it, and money that comes later goes back',
  async (_what, change) => {
    const { invoice, payment, session } = await linked();
    const { status, body } = await change(invoice);
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    expect((await api<Body>('GET', `/checkout/sessions/${session.id}`)).body).toMatchObject({
      checkout_status: 'expired',
      failure_reason: 'superseded',
    });
    // Until the gateway has closed the page it may still take the money once.
    await expect.poll(() => payAtSandbox(gateway, session), { timeout: 20_000 }).toMatchObject({ status: 'closed' });
    await expect
      .poll(async () => (await readPayment(payment.id)).payment_status, { timeout: 20_000 })
      .toMatch(/^(FAILED|REFUNDED)$/);
    expect((await readInvoice(invoice.id)).overpaid_amount).toBe('0');
  },
);

test('while a link is open no other payment of the invoice is made, and it can be cancelled', async () => {
  const { invoice, payment, session } = await linked();
  const other = await link(invoice.id, { payment_method_type: 'OFFLINE', payment_gateway: null, amount: '10' });
  expect(other).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(other.body.message).toContain(session.id);
  expect(await link(invoice.id, { amount: '10' })).toMatchObject({
    status: 409,
    body: { code: 'already_exists', details: { checkout_session: { id: session.id } } },
  });
  expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).status).toBe(200);
  expect((await readPayment(payment.id)).payment_status).toBe('FAILED');
  const part = await link(invoice.id, { amount: '10' });
  expect(part).toMatchObject({ status: 201, body: { amount: '10' } });
  await payAtSandbox(gateway, await sessionOf(invoice.id));
  expect((await readPayment(part.body.id)).payment_status).toBe('SUCCEEDED');
  expect(await readInvoice(invoice.id)).toMatchObject({ payment_status: 'PENDING', amount_remaining: '15' });
});

test('a link that is not processed has no page before it is', async () => {
  const invoice = await unpaid();
  const { body } = await link(invoice.id, { process_payment: false, metadata: { slip: '7' } });
  expect(body).toMatchObject({ payment_status: 'INITIATED', payment_url: null, metadata: { slip: '7' } });
  const processed = await api<Body>('POST', `/payments/${body.id}/process`);
  expect(processed).toMatchObject({ status: 200, body: { id: body.id, payment_status: 'PENDING' } });
  expect(processed.body.payment_url).toContain('/checkout/');
  await payAtSandbox(gateway, await sessionOf(invoice.id));
  expect((await readPayment(body.id)).payment_status).toBe('SUCCEEDED');
});

test.each([
  [400, 'payment_gateway', { payment_gateway: null }],
  [400, 'stripe', { payment_gateway: 'stripe' }],
  [400, 'amount', { amount: '26' }],
  [400, 'amount', { amount: '0' }],
  [400, 'currency', { currency: 'eur' }],
  [400, 'success_url', { success_url: '/thanks' }],
  [400, 'cancel_url', { cancel_url: 'http://shop.example' }],
  [400, 'save_card_and_make_default', { save_card_and_make_default: true }],
  [400, 'gateway_options', { gateway_options: { stripe: { tax_id_collection_enabled: true } } }],
  [400, 'destination_type', { destination_type: 'CUSTOMER' }],
  [404, 'inv_unknown', { destination_id: 'inv_unknown' }],
])('%i: a link with a bad %s is refused: %j', async (status, word, more) => {
  const invoice = await unpaid();
  const answer = await link(invoice.id, more);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(answer.body.message).toContain(word);
  expect(await sessionOf(invoice.id)).toBeUndefined();
});

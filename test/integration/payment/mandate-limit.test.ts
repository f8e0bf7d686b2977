import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { type Body, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout/checkout.fixture.ts';

/* Finding B10: what is more than the mandate of a saved method allows is not charged; its payer is asked for it by one link. */

const { api, app, gateway } = await testPlatform();
const plan = await monthlyPlan(api);

const saveCard = (customerId: string, more: object = {}) =>
  created<Body>(api, `/customers/${customerId}/payment-methods`, {
    card_number: sandboxCardNumber('succeeds'),
    set_default: true,
    ...more,
  });

/** A customer on a test clock whose card may be charged so much at once without its payer. */
async function limitedTo(max_amount: string) {
  const { id: clockId } = await created<Body>(api, '/test-clocks', { frozen_time: '2026-04-01T00:00:00Z' });
  const { id: customerId } = await customerOf(api, { test_clock_id: clockId });
  await saveCard(customerId, { max_amount });
  return { clockId, customerId };
}

const paymentsOf = async (invoiceId: string): Promise<Body[]> =>
  (await api<Body>('GET', `/payments?destination_id=${invoiceId}`)).body.items;
const readInvoice = async (id: string): Promise<Body> => (await api<Body>('GET', `/invoices/${id}`)).body;
const capturesOf = async (payments: readonly Body[]) =>
  (await gateway.operator.captures()).filter(({ intentToken }) =>
    payments.some(({ id }) => intentToken.startsWith(id)),
  );
const sessionOf = async (invoiceId: string): Promise<Body> =>
  (await api<Body>('GET', `/checkout/sessions?invoice_id=${invoiceId}`)).body.items[0];

/** A subscription for 30 a month whose payer's card may be charged 29.99: its first invoice, and the one payment of it. */
async function asked() {
  const { clockId, customerId } = await limitedTo('29.99');
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const [{ id: invoiceId }] = (await api<Body>('GET', `/invoices?subscription_id=${id}`)).body.items;
  await expect
    .poll(async () => (await paymentsOf(invoiceId)).map((one) => one.payment_status), { timeout: 20_000 })
    .toEqual(['PENDING']);
  return { clockId, customerId, invoiceId, session: await sessionOf(invoiceId) };
}

/** A final invoice of 25 that is not charged by itself. */
async function sentInvoice(customerId: string): Promise<string> {
  const { checkout: _none, ...body } = invoiceOf(customerId, '25', { collection_method: 'send_invoice' });
  return (await created<Body>(api, '/invoices', body)).id;
}

test('finding B10: an amount over the limit is asked of the payer by one link, which pays it', async () => {
  const { invoiceId, session } = await asked();
  const payments = await paymentsOf(invoiceId);
  expect(payments).toMatchObject([{ payment_method_type: 'PAYMENT_LINK', payment_method_id: null, amount: '30' }]);
  expect(payments[0].payment_url).toMatch(/^http:\/\/localhost:80\/checkout\/[a-z2-7]{26}$/);
  const page = await app.inject({ url: `${new URL(payments[0].payment_url).pathname}?lang=en` });
  expect(page.body).toContain('$30.00');
  expect(await capturesOf(payments)).toEqual([]);
  expect(session).toMatchObject({ action: 'pay_invoice', amount: '30', checkout_payment_id: payments[0].id });
  expect(await payAtSandbox(gateway, session)).toMatchObject({ status: 'paid' });
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
  expect(await readInvoice(invoiceId)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30' });
});

test('finding B10: the page ends unpaid, no second link is opened, and the first opens again for who follows it', async () => {
  const { clockId, invoiceId } = await asked();
  await advanceTo(api, clockId, '2026-04-20T00:00:00Z');
  const payments = await paymentsOf(invoiceId);
  expect(payments).toMatchObject([{ payment_method_type: 'PAYMENT_LINK', payment_status: 'FAILED' }]);
  expect(await capturesOf(payments)).toEqual([]);
  const ended = await app.inject({ url: `${new URL(payments[0].payment_url).pathname}?lang=en` });
  expect(ended.body).toContain('Pay now');
});

test('finding B10: a card without a limit that comes meanwhile is charged once the page has ended', async () => {
  const { clockId, customerId, invoiceId } = await asked();
  await saveCard(customerId);
  await advanceTo(api, clockId, '2026-04-20T00:00:00Z');
  expect(await readInvoice(invoiceId)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30' });
  expect((await paymentsOf(invoiceId)).map((one) => one.payment_status).sort()).toEqual(['FAILED', 'SUCCEEDED']);
});

test('finding B10: a card of a subscription over its limit gives way to a default within its own', async () => {
  const { customerId } = await limitedTo('29.99');
  const [{ id: limited }] = (await api<Body>('GET', `/customers/${customerId}/payment-methods`)).body.items;
  const { id: wide } = await saveCard(customerId, { max_amount: '30' });
  const terms = { customer_id: customerId, plan_id: plan.planId, gateway_payment_method_id: limited };
  const { id } = await subscribe(api, terms);
  const [invoice] = (await api<Body>('GET', `/invoices?subscription_id=${id}`)).body.items;
  await expect
    .poll(() => paymentsOf(invoice.id), { timeout: 20_000 })
    .toMatchObject([{ payment_status: 'SUCCEEDED', payment_method_type: 'CARD', payment_method_id: wide }]);
});

test('finding B10: a person who collects gets the payer one link too', async () => {
  const { customerId } = await limitedTo('24');
  const id = await sentInvoice(customerId);
  expect(await paymentsOf(id)).toEqual([]);
  expect((await api('POST', `/invoices/${id}/payment/attempt`)).status).toBe(200);
  await expect
    .poll(() => paymentsOf(id), { timeout: 20_000 })
    .toMatchObject([{ payment_method_type: 'PAYMENT_LINK', payment_status: 'PENDING', amount: '25' }]);
});

test('finding B10: a charge by hand over the limit is refused by name, and a subscription that must be paid at once too', async () => {
  const { customerId } = await limitedTo('24');
  const id = await sentInvoice(customerId);
  const charge = { destination_type: 'INVOICE', destination_id: id, payment_method_type: 'CARD', currency: 'usd' };
  const refused = await api<Body>('POST', '/payments', { ...charge, amount: '25' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(refused.body.message).toContain('24');
  expect(await paymentsOf(id)).toEqual([]);
  const immediate = await api<Body>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: plan.planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    payment_behavior: 'error_if_incomplete',
  });
  expect(immediate).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await api<Body>('GET', `/subscriptions?customer_id=${customerId}`)).body.items).toEqual([]);
  expect((await api<Body>('POST', '/payments', { ...charge, amount: '24' })).body.payment_status).toBe('SUCCEEDED');
});

test('finding B10: in the portal an amount over the limit is paid on a page', async () => {
  const { customerId } = await limitedTo('24');
  const id = await sentInvoice(customerId);
  const customer = (await api<Body>('GET', `/customers/${customerId}`)).body;
  const { token } = (await api<Body>('GET', `/customers/portal/${customer.external_id}`)).body;
  const page = { payment_provider: 'sandbox', customer_not_present: true };
  const portal = (path: string, body: object) =>
    api<Body>('POST', `/customer/portal${path}`, body, { 'x-api-key': '', 'x-session-token': token });
  const { status, body } = await portal(`/invoices/${id}/pay`, page);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ status: 'PENDING', amount: '25', payment_action: { type: 'checkout_url' } });
  const wallet = await walletOf(api, customerId);
  const buy = (credits_to_add: string) => portal(`/wallets/${wallet.id}/top-up`, { credits_to_add, checkout: page });
  expect((await buy('24')).body).toMatchObject({ checkout_session: null });
  expect((await buy('24.01')).body).toMatchObject({ checkout_session: { payment_action: { type: 'checkout_url' } } });
});

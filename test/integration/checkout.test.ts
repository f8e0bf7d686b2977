import { expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { startWorker, testTemporal } from '../support/temporal.ts';
import { type Body, checkout, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { api, gateway } = await testApp(base, temporal);
await startWorker(base, temporal);

test('an invoice waits for its payment page, and is final with a number once it is paid', async () => {
  const customer = await customerOf(api);
  const { status, body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({
    invoice_status: 'DRAFT',
    invoice_number: null,
    source_type: 'checkout',
    payment_status: 'INITIATED',
    checkout_session: { checkout_status: 'pending', action: 'pay_invoice', amount: '25' },
  });
  const session = body.checkout_session;
  expect(session.payment_action.url).toMatch(/\/checkout\/[a-z2-7]{26}$/);
  expect(await readSession(api, session.id)).toMatchObject({
    terminal: false,
    next_poll_after_ms: 2000,
    stale: false,
    payment: { status: 'PENDING', gateway: 'sandbox' },
  });

  expect(await payAtSandbox(gateway, session)).toMatchObject({ status: 'paid' });
  expect(await readSession(api, session.id)).toMatchObject({
    checkout_status: 'completed',
    terminal: true,
    next_poll_after_ms: 0,
    stale: false,
    payment_action: null,
    result: { pay_invoice_result: { invoice_id: body.id } },
    payment: { status: 'SUCCEEDED' },
  });
  const { body: invoice } = await api<Body>('GET', `/invoices/${body.id}`);
  expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED', amount_paid: '25' });
  expect(invoice.invoice_number).toMatch(/^INV-/);
});

test('a cancelled session leaves no invoice, and money that comes later goes back once', async () => {
  const customer = await customerOf(api);
  const { body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
  const { id } = body.checkout_session;
  const cancelled = await api<Body>('POST', `/checkout/sessions/${id}/cancel`);
  expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200);
  expect(cancelled.body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled', terminal: true });
  expect((await api('GET', `/invoices/${body.id}`)).status).toBe(404);
  expect((await api('POST', `/checkout/sessions/${id}/cancel`)).status).toBe(200);
});

test('bought credits and their bonus come with the money', async () => {
  const customer = await customerOf(api);
  const wallet = await walletOf(api, customer.id);
  const { status, body } = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '40',
    bonus_credits_to_add: '4',
    checkout,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.wallet_transaction.transaction_status).toBe('pending');
  const again = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '41',
    checkout,
  });
  expect(again.status).toBe(409);
  expect(again.body.details.checkout_session.id).toBe(body.checkout_session.id);
  await payAtSandbox(gateway, body.checkout_session);
  expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('44');
});

test('a subscription begins as it was frozen when its page is paid', async () => {
  const customer = await customerOf(api);
  const { body: plan } = await api<Body>('POST', '/plans', { name: 'Pro', lookup_key: 'pro' });
  await api('POST', '/prices', {
    entity_type: 'PLAN',
    entity_id: plan.id,
    type: 'FIXED',
    amount: '30',
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    billing_model: 'FLAT_FEE',
    billing_cadence: 'RECURRING',
    invoice_cadence: 'ADVANCE',
    price_unit_type: 'FIAT',
  });
  const opened = await api<Body>('POST', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'create_subscription',
    configuration: { create_subscription_params: { plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' } },
    ...checkout,
  });
  expect(opened.status, JSON.stringify(opened.body)).toBe(201);
  expect(opened.body).toMatchObject({ checkout_status: 'pending', amount: '30' });
  const again = await api<Body>('POST', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'create_subscription',
    configuration: { create_subscription_params: { plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' } },
    ...checkout,
  });
  expect(again.status).toBe(409);
  expect(again.body.details.checkout_session).toMatchObject({
    id: opened.body.id,
    status: 'pending',
    payment_action: opened.body.payment_action,
  });
  await payAtSandbox(gateway, opened.body);
  const paid = await readSession(api, opened.body.id);
  expect(paid).toMatchObject({ checkout_status: 'completed', payment: { status: 'SUCCEEDED' } });
  const { subscription_id: id } = paid.result.create_subscription_result;
  const { body: subscription } = await api<Body>('GET', `/subscriptions/${id}`);
  expect(subscription).toMatchObject({ subscription_status: 'active' });
  expect(subscription.latest_invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED' });
});

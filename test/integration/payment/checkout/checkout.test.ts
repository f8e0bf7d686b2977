import { expect, test } from 'vitest';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { type Body, checkout, customerOf, invoiceOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const subscriptionParams = { plan_id: 'plan_1', currency: 'usd', billing_period: 'MONTHLY' };
const monthlyFee = {
  entity_type: 'PLAN',
  type: 'FIXED',
  amount: '30',
  currency: 'usd',
  billing_period: 'MONTHLY',
  billing_model: 'FLAT_FEE',
  invoice_cadence: 'ADVANCE',
  start_date: '2025-01-01T00:00:00Z',
};

const { api, gateway } = await testPlatform();

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
  await api('POST', '/prices', { ...monthlyFee, entity_id: plan.id });
  const start_date = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const opened = await api<Body>('POST', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'create_subscription',
    configuration: { create_subscription_params: { ...subscriptionParams, plan_id: plan.id, start_date } },
    ...checkout,
  });
  expect(opened.status, JSON.stringify(opened.body)).toBe(201);
  expect(opened.body).toMatchObject({ checkout_status: 'pending', amount: '30' });
  const again = await api<Body>('POST', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'create_subscription',
    configuration: { create_subscription_params: { ...subscriptionParams, plan_id: plan.id, start_date } },
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
  expect(subscription).toMatchObject({ subscription_status: 'active', start_date });
  expect(subscription.latest_invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED' });
});

test('a subscription that is charged automatically keeps the card of its page, and renews with it', async () => {
  const { body: clock } = await api<Body>('POST', '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const customer = await customerOf(api, { test_clock_id: clock.id });
  const { body: plan } = await api<Body>('POST', '/plans', { name: 'Automatic' });
  await api('POST', '/prices', { ...monthlyFee, entity_id: plan.id });
  const coupon = { name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'once', coupon_code: 'HALF' };
  const { body: half } = await api<Body>('POST', '/coupons', coupon);
  const config = { collection_method: 'charge_automatically' };
  const { status, body } = await api<Body>('POST', '/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    collection_method: 'charge_automatically',
    coupons: [half.id],
    checkout: { ...checkout, payment_provider_config: config },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({ subscription_status: 'DRAFT', checkout_session: { amount: '15' } });
  // Nothing is checked after the payment that was not reserved at opening.
  await api('DELETE', `/plans/${plan.id}`);
  await payAtSandbox(gateway, body.checkout_session);
  const { result } = await readSession(api, body.checkout_session.id);
  const { payment_method_id } = result.create_subscription_result;
  const { body: methods } = await api<Body>('GET', `/customers/${customer.id}/payment-methods`);
  expect(methods.items).toMatchObject([{ id: payment_method_id, is_default: true, last_four: '0002' }]);
  await advanceTo(api, clock.id, '2026-02-01T03:00:00Z');
  const { body: invoices } = await api<Body>('GET', `/invoices?subscription_id=${body.id}`);
  expect(invoices.items.map((invoice: Body) => [invoice.total, invoice.payment_status]).sort()).toEqual([
    ['15', 'SUCCEEDED'],
    ['30', 'SUCCEEDED'],
  ]);
});

test.each([
  ['success_url', { success_url: '/thanks' }],
  ['success_url', { success_url: 'javascript:alert(1)' }],
  ['cancel_url', { cancel_url: 'http://shop.example/cart' }],
  ['failure_url', { failure_url: 'https://user:secret@shop.example/' }],
  ['payment_provider', { payment_provider: 'stripe' }],
  ['action', { action: 'wallet_topup' }],
  ['action', { action: 'pay_invoice' }],
  ['action', { action: 'steal' }],
  ['configuration', { configuration: {} }],
  [
    'configuration',
    { configuration: { create_subscription_params: subscriptionParams, wallet_topup_params: { credits: '1' } } },
  ],
  ['plan_id', { configuration: { create_subscription_params: { currency: 'usd', billing_period: 'MONTHLY' } } }],
  [
    'subscription_id',
    { configuration: { create_subscription_params: { ...subscriptionParams, subscription_id: 'subs_1' } } },
  ],
  ['max_mandate_limit', { payment_provider_config: { max_mandate_limit: '0' } }],
  ['POST /subscriptions', { configuration: { create_subscription_params: { ...subscriptionParams, coupons: ['x'] } } }],
  ['addons', { configuration: { create_subscription_params: { ...subscriptionParams, addons: [{ addon_id: 'x' }] } } }],
  ['quantity', { configuration: { create_subscription_params: { ...subscriptionParams, quantity: 2 } } }],
  ['trial', { configuration: { create_subscription_params: { ...subscriptionParams, trial_period_days: 7 } } }],
])('a session with a bad %s is refused, and nothing is drafted: %j', async (field, change) => {
  const customer = await customerOf(api);
  const { status, body } = await api<Body>('POST', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'create_subscription',
    configuration: { create_subscription_params: subscriptionParams },
    ...checkout,
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(400);
  expect(body.message).toContain(field);
  expect((await api<Body>('GET', `/checkout/sessions?customer_id=${customer.id}`)).body.items).toEqual([]);
});

test('sessions of nobody, of an archived customer and with nothing to pay are refused', async () => {
  const customer = await customerOf(api);
  const { body: free } = await api<Body>('POST', '/plans', { name: 'Free' });
  const open = (customer_external_id: string, plan_id = free.id, more: object = {}) =>
    api<Body>('POST', '/checkout/sessions', {
      customer_external_id,
      action: 'create_subscription',
      configuration: { create_subscription_params: { ...subscriptionParams, plan_id, ...more } },
      ...checkout,
    });
  const backwards = { start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' };
  expect(await open(customer.external_id, free.id, backwards)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('end_date') },
  });
  expect(await open(customer.external_id)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect((await open(customer.external_id, 'plan_unknown')).status).toBe(404);
  expect((await open('nobody')).status).toBe(404);
  await api('DELETE', `/customers/${customer.id}`);
  expect(await open(customer.external_id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await api('GET', '/checkout/sessions/cs_unknown')).status).toBe(404);
  expect((await api('POST', '/checkout/sessions/cs_unknown/cancel')).status).toBe(404);
});

test('a session that is deleted is cancelled, and archived once it has ended', async () => {
  const customer = await customerOf(api);
  const { body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
  const path = `/checkout/sessions/${body.checkout_session.id}`;
  expect((await api('DELETE', path)).status).toBe(204);
  expect((await api<Body>('GET', path)).body.checkout_status).toBe('expired');
  expect((await api('DELETE', path)).status).toBe(204);
  expect((await api('GET', path)).status).toBe(404);
});

test('finding A14: the same key is 409 while its session runs, and free after it; another key is another cart', async () => {
  const customer = await customerOf(api);
  const { body: plan } = await api<Body>('POST', '/plans', { name: 'Keyed' });
  await api('POST', '/prices', { ...monthlyFee, entity_id: plan.id });
  const open = (idempotency_key: string) =>
    api<Body>('POST', '/checkout/sessions', {
      customer_external_id: customer.external_id,
      action: 'create_subscription',
      configuration: { create_subscription_params: { ...subscriptionParams, plan_id: plan.id } },
      ...checkout,
      idempotency_key,
    });
  const first = await open('one');
  expect(await open('one')).toMatchObject({
    status: 409,
    body: { details: { checkout_session: { id: first.body.id, payment_action: first.body.payment_action } } },
  });
  expect((await open('two')).status).toBe(201);
  await api('POST', `/checkout/sessions/${first.body.id}/cancel`);
  expect((await open('one')).status).toBe(201);
  const headers = { 'idempotency-key': `header-${customer.id}` };
  const other = await customerOf(api);
  const gated = await api<Body>('POST', '/invoices', invoiceOf(other.id), headers);
  expect(await api<Body>('POST', '/invoices', invoiceOf(other.id), headers)).toMatchObject({
    status: 201,
    body: { id: gated.body.id, checkout_session: { id: gated.body.checkout_session.id } },
  });
});

test('finding A14: the same cart in two tabs is one order, and the second tab meets the page of the first', async () => {
  const customer = await customerOf(api);
  const { body: plan } = await api<Body>('POST', '/plans', { name: 'Two tabs' });
  await api('POST', '/prices', { ...monthlyFee, entity_id: plan.id });
  const open = () =>
    api<Body>('POST', '/checkout/sessions', {
      customer_external_id: customer.external_id,
      action: 'create_subscription',
      configuration: { create_subscription_params: { ...subscriptionParams, plan_id: plan.id } },
      ...checkout,
    });
  const tabs = await Promise.all([open(), open(), open()]);
  const [first] = tabs.filter(({ status }) => status === 201);
  const met = tabs.filter(({ status }) => status === 409);
  expect(met).toHaveLength(2);
  const { id, payment_action, expires_at } = first!.body;
  const session = await readSession(api, id);
  for (const { body } of [...met, await open()]) {
    expect(body.details.checkout_session).toMatchObject({ id, payment_action, expires_at });
  }
  await payAtSandbox(gateway, session);
  await expect.poll(() => readSession(api, id), { timeout: 20_000 }).toMatchObject({ checkout_status: 'completed' });
  expect((await api<Body>('GET', `/subscriptions?customer_id=${customer.id}`)).body.items).toHaveLength(1);
  expect((await open()).status).toBe(201);
});

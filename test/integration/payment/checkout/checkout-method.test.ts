import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, created, monthlyPlan, subscribe, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import { asSuperuser } from '../../../support/database.ts';
import { addonWith } from '../../catalogue/addon.fixture.ts';
import { type Body, checkout, customerOf, payAtSandbox, readSession, walletOf } from './checkout.fixture.ts';

const { api, base, gateway } = await testPlatform();
const plan = await monthlyPlan(api);
const automatic = { ...checkout, payment_provider_config: { collection_method: 'charge_automatically' } };

const methodsOf = async (customerId: string): Promise<Body[]> =>
  (await api<Body>('GET', `/customers/${customerId}/payment-methods`)).body.items;
const saveCard = (customerId: string) =>
  created<Body>(api, `/customers/${customerId}/payment-methods`, { card_number: sandboxCardNumber('succeeds') });
const order = async (customerId: string, more: object = {}) => {
  const terms = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  return (await api<Body>('POST', '/subscriptions', { ...terms, checkout, ...more })).body;
};

test('finding B12: after a hosted payment the renewal is charged: the card is kept, the subscription names it, and the answer says which', async () => {
  const { id } = await customerOf(api);
  const earlier = await saveCard(id);
  const subscription = await order(id, { collection_method: 'charge_automatically' });
  await payAtSandbox(gateway, subscription.checkout_session);
  const { result } = await readSession(api, subscription.checkout_session.id);
  const { payment_method_id } = result.create_subscription_result;
  expect((await methodsOf(id)).map((method) => [method.id, method.is_default])).toEqual([
    [earlier.id, true],
    [payment_method_id, false],
  ]);
  const { body } = await api<Body>('GET', `/subscriptions/${subscription.id}`);
  expect(body).toMatchObject({
    gateway_payment_method_id: payment_method_id,
    collection_method: 'charge_automatically',
  });
});

test('without being asked to charge automatically nothing is kept', async () => {
  const { id } = await customerOf(api);
  const subscription = await order(id);
  await payAtSandbox(gateway, subscription.checkout_session);
  expect(await readSession(api, subscription.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  expect(await methodsOf(id)).toEqual([]);
  expect((await api<Body>('GET', `/subscriptions/${subscription.id}`)).body.collection_method).toBe('send_invoice');
});

test('the session and the kept card belong to the payer of the invoices, not to the subscriber', async () => {
  const [subscriber, payer] = [await customerOf(api), await customerOf(api)];
  const { id } = await subscribe(api, {
    customer_id: subscriber.id,
    plan_id: plan.planId,
    collection_method: 'send_invoice',
    inheritance: { invoicing_customer_external_id: payer.external_id },
  });
  const { status, body } = await api<Body>('POST', '/subscriptions/addon', {
    subscription_id: id,
    addon_id: await addonWith(api),
    checkout: automatic,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.checkout_session.customer_id).toBe(payer.id);
  await payAtSandbox(gateway, body.checkout_session);
  const { result } = await readSession(api, body.checkout_session.id);
  const { payment_method_id } = result.add_addon_result;
  expect(await methodsOf(payer.id)).toMatchObject([{ id: payment_method_id, is_default: true }]);
  expect(await methodsOf(subscriber.id)).toEqual([]);
  expect(((await subscriptionOf(api, id)) as Body).gateway_payment_method_id).toBe(payment_method_id);
});

test('a kept card is charged no more than its page asked the payer for; a larger renewal asks again, by one link', async () => {
  const { body: clock } = await api<Body>('POST', '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const { id } = await customerOf(api, { test_clock_id: clock.id });
  const config = { ...automatic.payment_provider_config, max_mandate_limit: '29.99' };
  const subscription = await order(id, {
    collection_method: 'charge_automatically',
    checkout: { ...checkout, payment_provider_config: config },
  });
  await payAtSandbox(gateway, subscription.checkout_session);
  expect(await readSession(api, subscription.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
  expect(await methodsOf(id)).toMatchObject([{ max_amount: '29.99' }]);
  await advanceTo(api, clock.id, '2026-02-01T03:00:00Z');
  const { body } = await api<Body>('GET', `/invoices?subscription_id=${subscription.id}&payment_status=PENDING`);
  const [{ id: renewalId }] = body.items;
  const asked = async () => (await api<Body>('GET', `/payments?destination_id=${renewalId}`)).body.items;
  await expect
    .poll(asked, { timeout: 20_000 })
    .toMatchObject([{ payment_method_type: 'PAYMENT_LINK', payment_method_id: null, amount: '30' }]);
});

test('without a limit of its own a kept method has the ceiling of its kind, or the lower one that was asked', async () => {
  const { body: rupees } = await api<Body>('POST', '/plans', { name: 'Rupees' });
  await created(api, '/prices', {
    ...{ entity_type: 'PLAN', entity_id: rupees.id, type: 'FIXED', amount: '30', currency: 'inr' },
    ...{ billing_period: 'MONTHLY', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' },
    start_date: '2025-01-01T00:00:00Z',
  });
  const limitOf = async (asked: object) => {
    const { id } = await customerOf(api, { contact: '+919876543210' });
    const payment_provider_config = { ...automatic.payment_provider_config, payment_method: 'UPI', ...asked };
    const terms = { plan_id: rupees.id, currency: 'inr', checkout: { ...checkout, payment_provider_config } };
    const { checkout_session: session } = await order(id, terms);
    await payAtSandbox(gateway, session);
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
    return (await methodsOf(id)).map(({ max_amount }) => max_amount);
  };
  expect(await limitOf({})).toEqual(['100000']);
  expect(await limitOf({ max_mandate_limit: '500' })).toEqual(['500']);
  expect(await limitOf({ max_mandate_limit: '200000' })).toEqual(['100000']);
  expect(await limitOf({ payment_method: 'CARD' })).toEqual([null]);
});

test('finding B17: a suspended tenant: what its payer pays is carried out all the same', async () => {
  const wallet = await walletOf(api, (await customerOf(api)).id);
  const topUp = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '40', checkout };
  const { body } = await api<Body>('POST', `/wallets/${wallet.id}/top-up`, topUp);
  const state = (text: string) =>
    asSuperuser(base.ownerUrl, `update tenant set state = '${text}' where id = '${base.scope.tenantId}'`);
  await state('suspended');
  try {
    await payAtSandbox(gateway, body.checkout_session);
    expect(await readSession(api, body.checkout_session.id)).toMatchObject({ checkout_status: 'completed' });
    expect((await api<Body>('GET', `/wallets/${wallet.id}`)).body.credit_balance).toBe('40');
  } finally {
    await state('active');
  }
});

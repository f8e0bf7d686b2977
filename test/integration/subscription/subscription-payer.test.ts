import { expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api } = await testPlatform();

test('another customer gets the invoices of a subscription, with his own taxes and card', async () => {
  const { planId } = await monthlyPlan(api);
  const subscriber = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const payer = await clockedCustomer(api, {
    frozenTime: '2026-01-15T00:00:00Z',
    clockId: subscriber.clockId,
    card: '4000000000000002',
  });
  const subscription = await created<Wire>(api, '/subscriptions', {
    customer_id: subscriber.customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    inheritance: { invoicing_customer_external_id: payer.externalId },
  });
  expect(subscription).toMatchObject({
    customer_id: subscriber.customerId,
    invoicing_customer_id: payer.customerId,
    subscription_type: 'standalone',
  });
  await advanceTo(api, subscriber.clockId, '2026-02-16T00:00:00Z');
  const invoices = async (customer_id: string) =>
    (await api<Wire>('POST', '/invoices/search', { customer_id })).body.items;
  expect(await invoices(subscriber.customerId)).toEqual([]);
  const paid = await invoices(payer.customerId);
  expect(paid).toHaveLength(2);
  for (const invoice of paid)
    expect(invoice).toMatchObject({
      customer_id: payer.customerId,
      subscription_customer_id: subscriber.customerId,
      payment_status: 'SUCCEEDED',
    });
});

test('an unknown payer is not found', async () => {
  const { planId } = await monthlyPlan(api);
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const attempt = (inheritance: Record<string, unknown>) =>
    api<Wire>('POST', '/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      inheritance,
    });
  expect((await attempt({ invoicing_customer_external_id: 'nobody' })).status).toBe(404);
});

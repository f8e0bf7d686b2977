import { expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { countCalls, invoicesOf, type Wire } from './invoice.fixture.ts';

const { api } = await testPlatform();

/** spec: subscriptions-and-invoicing §2.17.1, README decision 43 */
test('a coupon of one period discounts one advance fee and the usage of that period, wherever they are invoiced', async () => {
  const { id: coupon } = await created(api, '/coupons', {
    name: 'Half of a period',
    type: 'percentage',
    percentage_off: '50',
    cadence: 'repeated',
    duration_in_periods: 1,
  });
  const { planId, eventName } = await monthlyPlan(api);
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const { customerId, clockId } = clocked;
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId, coupons: [coupon] });
  const customer: Wire = { ...clocked, subscriptionId: id, eventName };
  await countCalls(api, customer, 12, '2026-02-10T00:00:00Z');
  await countCalls(api, customer, 24, '2026-03-10T00:00:00Z');
  const previewed = await api<Wire>('POST', '/invoices/preview', { subscription_id: id });
  expect(previewed.body.coupon_applications).toEqual([]);
  await advanceTo(api, clockId, '2026-03-16T00:00:00Z');
  const invoices = await invoicesOf(api, customerId);
  expect(invoices.map((invoice: Wire) => invoice.total_discount)).toEqual(['15', '0.6', '0']);
  const shares = invoices[1]!.line_items.map((line: Wire) => [line.price_type, line.invoice_level_discount]);
  expect(shares.sort()).toEqual([
    ['FIXED', '0'],
    ['USAGE', '0.6'],
  ]);
  expect(invoices[1]!.coupon_applications).toMatchObject([
    { original_price: '1.2', discounted_amount: '0.6', final_price: '0.6', invoice_line_item_id: null },
  ]);
});

import { expect, test } from 'vitest';
import { clockedCustomer, monthlyPlan, testPlatform } from '../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api);

const refused: [string, Record<string, unknown>, number, string][] = [
  ['an unknown plan', { plan_id: 'plan_unknown' }, 404, 'plan_unknown'],
  ['an unknown customer', { customer_id: 'cust_unknown' }, 404, 'cust_unknown'],
  ['a currency without a price', { currency: 'eur' }, 400, 'eur'],
  [
    'an end before its start',
    { start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-01T00:00:00Z' },
    400,
    'end_date',
  ],
  [
    'an anchor on a calendar cycle',
    { billing_cycle: 'calendar', billing_anchor: '2026-01-05T00:00:00Z' },
    400,
    'billing_anchor',
  ],
  [
    'a pair of collection that does not fit',
    { collection_method: 'send_invoice', payment_behavior: 'allow_incomplete' },
    400,
    'payment_behavior',
  ],
  ['a price of another plan', { include_price_ids: ['price_unknown'] }, 400, 'price_unknown'],
  ['an unknown time zone', { timezone: 'Mars/Olympus' }, 400, 'timezone'],
  ['an unknown coupon', { coupons: ['coupon_1'] }, 404, 'coupon_1'],
];

test.each(refused)('a subscription with %s is refused and leaves nothing', async (_what, change, status, names) => {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const answer = await api<{ message: string }>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: plan.planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    ...change,
  });
  expect(answer.status, answer.body.message).toBe(status);
  expect(answer.body.message).toContain(names);
  const { body } = await api<{ items: unknown[] }>('GET', `/subscriptions?customer_id=${customerId}`);
  expect(body.items).toEqual([]);
});

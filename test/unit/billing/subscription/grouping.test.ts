import { expect, test } from 'vitest';
import { computeInvoice } from '../../../../billing/invoice/invoice.ts';
import { type GroupMember, groupingProblem } from '../../../../billing/subscription/grouping.ts';

const parent: GroupMember = {
  id: 'subs_parent',
  customerId: 'cust_parent',
  subscriptionType: 'standalone',
  parentSubscriptionId: null,
  currency: 'usd',
  testClockId: null,
  status: 'active',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: '2026-01-31T00:00:00.000Z',
  timezone: 'UTC',
  startDate: '2026-01-31T00:00:00.000Z',
  endDate: null,
  currentPeriodStart: '2026-01-31T00:00:00.000Z',
  currentPeriodEnd: '2026-02-28T00:00:00.000Z',
  trialStart: null,
  trialEnd: null,
  cancelAt: null,
  cancelledAt: null,
  cancelAtPeriodEnd: false,
};
const child: GroupMember = { ...parent, id: 'subs_child', customerId: 'cust_child' };

test('a standalone subscription of the same periods is invoiced with a parent', () => {
  expect(groupingProblem(child, parent, null)).toBeNull();
  expect(groupingProblem(child, { ...parent, subscriptionType: 'parent' }, '0')).toBeNull();
});

test('a trial may end at a later boundary of the parent, not between two', () => {
  const trialing = (end: string): GroupMember => ({
    ...child,
    status: 'trialing',
    trialEnd: end,
    currentPeriodEnd: end,
  });
  expect(groupingProblem(trialing('2026-03-31T00:00:00.000Z'), parent, null)).toBeNull();
  expect(groupingProblem(trialing('2026-03-15T00:00:00.000Z'), parent, null)).toContain('has a period');
});

test('what does not fit is said', () => {
  const cases: [Partial<GroupMember>, string][] = [
    [{ id: parent.id }, 'the parent itself'],
    [{ subscriptionType: 'grouped_invoicing', parentSubscriptionId: 'subs_other' }, 'subs_other'],
    [{ subscriptionType: 'parent' }, 'is parent'],
    [{ status: 'paused' }, 'is paused'],
    [{ status: 'incomplete' }, 'is incomplete'],
    [{ currency: 'eur' }, 'is in eur'],
    [{ billingPeriod: 'ANNUAL' }, 'ANNUAL'],
    [{ billingPeriodCount: 2 }, '2 × MONTHLY'],
    [{ testClockId: 'clock' }, 'test clock'],
    [{ startDate: '2026-01-30T00:00:00.000Z' }, 'before the parent'],
    [{ cancelAt: '2026-02-28T00:00:00.000Z' }, 'is to end'],
    [{ endDate: '2026-12-31T00:00:00.000Z' }, 'is to end'],
    [{ billingAnchor: '2026-01-28T00:00:00.000Z' }, 'has a period'],
    [{ billingAnchor: '2026-01-31T10:00:00.000Z' }, 'has a period'],
    [{ currentPeriodEnd: '2026-03-01T00:00:00.000Z' }, 'has a period'],
  ];
  for (const [change, word] of cases) expect(groupingProblem({ ...child, ...change }, parent, null)).toContain(word);
  expect(groupingProblem(child, parent, '10')).toContain('auto_invoice_threshold');
});

test('a coupon for some lines leaves the others alone, and one for all takes of what it left', () => {
  const line = (id: string, amount: string) => ({ id, amount, priceType: 'FIXED' as const });
  const half = { id: 'half', lineId: null, lineIds: ['b'], type: 'percentage' as const, percentageOff: '50' };
  const ten = { id: 'ten', lineId: null, type: 'percentage' as const, percentageOff: '10' };
  const amounts = computeInvoice({
    currency: 'usd',
    lines: [line('a', '100'), line('b', '60')],
    coupons: [half, ten],
    wallets: [],
    taxes: [],
    taxExempt: false,
  });
  expect(amounts.lines.map(({ invoiceLevelDiscount }) => invoiceLevelDiscount)).toEqual(['10.00', '33.00']);
  expect(amounts.couponApplications.map(({ couponId, discountedAmount }) => [couponId, discountedAmount])).toEqual([
    ['half', '30.00'],
    ['ten', '13.00'],
  ]);
  expect(amounts.total).toBe('117.00');
});

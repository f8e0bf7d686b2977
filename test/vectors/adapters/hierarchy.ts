import { planCharges, priceCharges } from '../../../billing/line/charge.ts';
import type { Adapters, Given } from '../adapter.ts';
import { fixedItem } from './charge.ts';
import { bucketsOf } from './metering.ts';

/** One line of the parent over what it and its children used. */
async function inheritedUsageRollup(given: Given): Promise<unknown> {
  const [start, end] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'] as const;
  const cadence = { billing_period: 'MONTHLY', billing_period_count: 1 };
  const item = fixedItem({ ...given, ...cadence, price_type: 'USAGE' }, start, '0', String(given.unit_amount));
  const planned = planCharges({
    reason: 'last',
    subscription: {
      currency: given.currency,
      billingPeriod: 'MONTHLY',
      billingPeriodCount: 1,
      billingCycle: 'anniversary',
      billingAnchor: start,
      timezone: 'UTC',
      lineItemGrouping: 'per_charge_period',
    },
    elapsed: { start, end, full: { start, end } },
    next: null,
    items: [item],
    allowances: {},
    billed: [],
  });
  // The engine unites what the customers used and aggregates it once.
  const { value } = await bucketsOf({
    aggregation: { type: 'SUM', field: 'quantity' },
    period: { start, end },
    events: given.usage.map(({ customer, quantity }: Given, place: number) => ({
      id: `${place}`,
      user: String(customer),
      timestamp: start,
      properties: { quantity: String(quantity) },
    })),
  });
  const usage = { quantity: value };
  const [line] = priceCharges(planned, { [planned[0]!.questions[0]!.key]: usage });
  return { parent_line: { quantity: line!.quantity, amount: line!.amount }, child_invoices: 0 };
}

export const hierarchyAdapters: Adapters = { inherited_usage_rollup: inheritedUsageRollup };

import { type ChargeItem, planCharges, priceCharges, usageQuestions } from '../../../billing/line/charge.ts';
import { canonicalInstant } from '../../../billing/time/calendar.ts';
import { knownZone } from '../../../metering/series.ts';
import type { Adapters, Given } from '../adapter.ts';
import { priceTerms } from './catalogue.ts';
import { bucketsOf } from './metering.ts';

const item = (given: Given, start: string): ChargeItem => ({
  id: 'item',
  priceId: 'price',
  priceType: 'USAGE',
  invoiceCadence: 'ARREAR',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  displayName: '',
  quantity: '0',
  startDate: start,
  endDate: null,
  meterId: 'meter',
  price: priceTerms(given.price),
  bucketSize: given.aggregation.bucket_size,
  resetUsage: 'BILLING_PERIOD',
});

/** The line of one period whose usage is the vector's events. */
async function chargeLine(given: Given) {
  const start = canonicalInstant(given.period.start)!;
  const end = canonicalInstant(given.period.end)!;
  const planned = planCharges({
    reason: 'last',
    subscription: {
      currency: given.price.currency,
      billingPeriod: 'MONTHLY',
      billingPeriodCount: 1,
      billingCycle: 'anniversary',
      billingAnchor: given.billing_anchor ?? start,
      timezone: knownZone(given.timezone),
      lineItemGrouping: 'per_charge_period',
    },
    elapsed: { start, end, full: { start, end } },
    next: null,
    items: [item(given, start)],
    allowances:
      given.usage_limit === undefined
        ? {}
        : {
            meter: {
              usageLimit: given.usage_limit === null ? null : String(given.usage_limit),
              usageResetPeriod: null,
            },
          },
    billed: [],
  });
  const { value, buckets } = await bucketsOf(given);
  const [main] = usageQuestions(planned).filter((question) => question.to > question.from);
  const [line] = priceCharges(planned, {
    [main?.key ?? '']: { quantity: value, buckets: buckets ?? [] },
  });
  const [part] = line?.derivation.parts ?? [];
  if (!line || !part) throw new Error('the vector gave no line');
  return { line, part };
}

async function bucketedCost(given: Given): Promise<unknown> {
  const { line, part } = await chargeLine(given);
  const rows = part.buckets?.map(({ start, group, value }) => ({ start, group, value }));
  return { rows, quantity: line.quantity, cost: part.cost, line_amount: line.amount };
}

async function bucketedEntitlement(given: Given): Promise<unknown> {
  const { line, part } = await chargeLine(given);
  const rows = part.buckets?.map(({ start, group, value, billable }) => ({ start, group, value, billable }));
  return {
    rows,
    raw_quantity: part.usage?.quantity,
    billable_quantity: line.quantity,
    cost: part.cost,
    line_amount: line.amount,
  };
}

export const bucketAdapters: Adapters = {
  bucketed_cost: bucketedCost,
  bucketed_entitlement: bucketedEntitlement,
};

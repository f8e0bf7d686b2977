import {
  type ChargeItem,
  type ChargeLine,
  type ChargePlanInput,
  planCharges,
  priceCharges,
  type UsageAnswer,
} from '../../../billing/line/charge.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { canonicalInstant, nextBoundary, periodSeries } from '../../../billing/time/calendar.ts';
import type { Adapters, Given } from '../adapter.ts';

/** An item of the vector's cadence with a flat price. */
export function fixedItem(given: Given, startDate: string, quantity: string, amount: string): ChargeItem {
  return {
    id: 'item',
    priceId: 'price',
    priceType: given.price_type ?? 'FIXED',
    invoiceCadence: given.invoice_cadence ?? 'ARREAR',
    billingPeriod: given.billing_period,
    billingPeriodCount: given.billing_period_count ?? 1,
    displayName: '',
    quantity,
    startDate: canonical(startDate),
    endDate: null,
    meterId: given.price_type === 'USAGE' ? 'meter' : null,
    price: { billing_model: 'FLAT_FEE', amount, currency: given.currency ?? 'usd' },
    bucketSize: null,
    resetUsage: 'BILLING_PERIOD',
  };
}

function canonical(instant: string): string {
  return canonicalInstant(instant)!;
}

/** The vector names only the item's cadence; any multiple of it serves as the subscription's. */
function lineItemGrouping(given: Given): unknown {
  const start = canonical(given.invoice_period_start);
  const end = canonical(given.invoice_period_end);
  const item = fixedItem(
    { ...given, billing_period: given.line_billing_period, billing_period_count: given.line_billing_period_count },
    start,
    String(given.quantity ?? 0),
    String(given.unit_amount),
  );
  const lines = (lineItemGrouping: 'per_charge_period' | 'per_billing_period'): ChargeLine[] => {
    const input: ChargePlanInput = {
      reason: 'cycle',
      subscription: {
        currency: given.currency,
        billingPeriod: given.line_billing_period,
        billingPeriodCount: (given.line_billing_period_count ?? 1) * 1000,
        billingCycle: 'anniversary',
        billingAnchor: given.billing_anchor,
        timezone: given.timezone || 'UTC',
        lineItemGrouping,
      },
      elapsed: { start, end, full: { start, end } },
      next: null,
      items: [item],
      allowances: {},
      billed: [],
    };
    const planned = planCharges(input);
    const keys = planned.flatMap((charge) => charge.questions.map((question) => question.key));
    const answers: Record<string, UsageAnswer> = {};
    for (const [position, key] of keys.entries())
      answers[key] = { quantity: String(given.usage_per_window?.[position] ?? '0') };
    return priceCharges(planned, answers);
  };
  const single = lines('per_charge_period');
  return {
    per_charge_period: single.map(wireLine),
    per_billing_period: lines('per_billing_period').map(wireLine),
    total: decimalString(sum(single.map((line) => decimal(line.amount)))),
  };
}

function wireLine(line: ChargeLine): unknown {
  return { period_start: line.periodStart, period_end: line.periodEnd, quantity: line.quantity, amount: line.amount };
}

function longerCadenceItem(given: Given): unknown {
  const anchor = canonical(given.item_start);
  const subscription = {
    currency: given.currency ?? 'usd',
    billingPeriod: given.subscription_billing_period,
    billingPeriodCount: given.subscription_billing_period_count ?? 1,
    billingCycle: 'anniversary' as const,
    billingAnchor: anchor,
    timezone: 'UTC',
    lineItemGrouping: 'per_charge_period' as const,
  };
  const item = fixedItem(
    { ...given, billing_period: given.item_billing_period, billing_period_count: given.item_billing_period_count },
    anchor,
    '1',
    String(given.amount),
  );
  const cadence = { ...subscription, anchor };
  const boundaries = periodSeries({ ...cadence, start: anchor, periods: given.boundaries });
  const invoices = boundaries.slice(0, given.boundaries).map((at, position) => {
    const period = (start: string) => {
      const whole = { start, end: nextBoundary({ ...cadence, periodStart: start }) };
      return { ...whole, full: whole };
    };
    const planned = planCharges({
      reason: position === 0 ? 'opening' : 'cycle',
      subscription,
      elapsed: position === 0 ? null : period(boundaries[position - 1]!),
      next: period(at),
      items: [item],
      allowances: {},
      billed: [],
    });
    const line = priceCharges(planned, {})[0];
    return {
      invoice_at: at,
      amount: line?.amount ?? null,
      service_period: line ? [line.periodStart, line.periodEnd] : null,
    };
  });
  return { invoices };
}

export const chargeAdapters: Adapters = {
  line_item_grouping: lineItemGrouping,
  longer_cadence_item: longerCadenceItem,
};

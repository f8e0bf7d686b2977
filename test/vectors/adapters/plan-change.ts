import type { ChargeItem } from '../../../billing/line/charge.ts';
import { decimal, moneyString } from '../../../billing/money/money.ts';
import { changePlan } from '../../../billing/subscription/plan-change.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';

function planItem(currency: string, amount: string, start: string, index: number): ChargeItem {
  return {
    id: `item-${index}`,
    priceId: `price-${index}`,
    priceType: 'FIXED',
    invoiceCadence: 'ADVANCE',
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    displayName: 'Plan',
    quantity: '1',
    startDate: start,
    endDate: null,
    meterId: null,
    price: { billing_model: 'FLAT_FEE', amount, currency },
    bucketSize: null,
    resetUsage: 'BILLING_PERIOD',
  };
}

/** One item changes its price again and again; what a step charged is what the next one may give back. */
function sequence(given: Given): unknown {
  const { currency } = given;
  const period = { start: instant(given.period_start), end: instant(given.period_end) };
  let held = {
    item: planItem(currency, String(given.initial_amount), period.start, 0),
    filters: null,
    billed: String(given.initial_amount_billed) as string | null,
    credited: '0',
  };
  let collected = decimal(given.initial_amount_billed);
  const steps = given.changes.map((change: Given, index: number) => {
    const at = instant(change.at);
    const offered = planItem(currency, String(change.amount), at, index + 1);
    const { carried, changeType, proration } = changePlan({
      subscription: {
        currency,
        billingPeriod: 'MONTHLY',
        billingPeriodCount: 1,
        billingCycle: 'anniversary',
        billingAnchor: period.start,
        timezone: 'UTC',
        lineItemGrouping: 'per_charge_period',
      },
      period: { ...period, full: period },
      effectiveAt: at,
      behavior: given.proration_behavior,
      present: [held],
      offered: [{ item: offered, filters: null }],
      charges: true,
    });
    const none = proration.settlement === 'none' && given.proration_behavior === 'none';
    const told = none ? { credit: '0', charge: '0', net: '0' } : proration;
    if (carried.length === 0) held = { item: offered, filters: null, billed: told.charge, credited: '0' };
    collected = collected.plus(told.net);
    return { at: change.at, credit: told.credit, charge: told.charge, net: told.net, change_type: changeType };
  });
  return { steps, net_collected_in_period: moneyString(collected, currency) };
}

export const planChangeAdapters: Adapters = { plan_change_sequence: sequence };

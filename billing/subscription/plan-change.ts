import type { ChargeItem, ChargePeriod, ChargeSubscription } from '../line/charge-input.ts';
import type { ProrationBehavior } from '../line/proration.ts';
import { decimalString } from '../money/money.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { type EndingCharge, monthlyEquivalent, type ProratedChange, prorateChange } from './proration-change.ts';

export type PlanChangeType = 'upgrade' | 'downgrade' | 'lateral';

/** A charge as plans compare it: beside the item, what its meter is asked. */
export interface ComparedItem {
  item: ChargeItem;
  filters: Record<string, string[]> | null;
}

export interface PlanChangeInput {
  subscription: ChargeSubscription;
  /** The current period beside the whole one it is part of. */
  period: ChargePeriod;
  effectiveAt: string;
  behavior: ProrationBehavior;
  /** The items of the plan that is left and have not ended, with what was billed of them. */
  present: readonly (ComparedItem & Omit<EndingCharge, 'item'>)[];
  /** The items the new plan would give from `effectiveAt` on. */
  offered: readonly ComparedItem[];
  /** False during a trial, which charges nothing: then nothing is credited or charged. */
  charges: boolean;
}

export interface PlanChange {
  /** Items that stay, each at the price of the new plan that costs the same. */
  carried: { item: ChargeItem; offered: ChargeItem }[];
  ended: ChargeItem[];
  started: ChargeItem[];
  changeType: PlanChangeType;
  proration: ProratedChange;
}

/**
 * A change of plan in place: charges that are identical in both plans (amount, model, cadence, meter) are carried, others end
 * and begin at `effectiveAt`, and what is paid in advance for the rest of the period is settled once for all of them. The
 * kind of change compares the monthly-equivalent recurring FIXED totals of ended and new items.
 * spec: subscriptions-and-invoicing §2.9.1, §2.8.2
 */
export function changePlan(input: PlanChangeInput): PlanChange {
  const free = [...input.offered];
  const carried: PlanChange['carried'] = [];
  const ended: PlanChangeInput['present'][number][] = [];
  for (const held of input.present) {
    const match = free.findIndex((offered) => identityOf(offered) === identityOf(held));
    const [offered] = match < 0 ? [] : free.splice(match, 1);
    if (offered) carried.push({ item: held.item, offered: offered.item });
    else ended.push(held);
  }
  const started = free.map(({ item }) => item);
  const endedItems = ended.map(({ item }) => item);
  const changeType = changeTypeOf(endedItems, started);
  const proration = prorateChange({
    action: changeType,
    behavior: input.behavior,
    subscription: input.subscription,
    period: input.period,
    effectiveAt: input.effectiveAt,
    ended: input.charges ? ended : [],
    started: input.charges ? started : [],
  });
  return { carried, ended: endedItems, started, changeType, proration };
}

/** Whether the new recurring fixed charges cost more a month than those that end. spec: §2.9.1 change_type */
export function changeTypeOf(ended: readonly ChargeItem[], started: readonly ChargeItem[]): PlanChangeType {
  const before = monthlyEquivalent(ended);
  const after = monthlyEquivalent(started);
  return after.greaterThan(before) ? 'upgrade' : after.lessThan(before) ? 'downgrade' : 'lateral';
}

/** What makes two charges one: everything that decides amount, time and usage. */
function identityOf({ item, filters }: ComparedItem): string {
  const { priceType, invoiceCadence, billingPeriod, billingPeriodCount, meterId, bucketSize, price } = item;
  const cadence = [priceType, invoiceCadence, billingPeriod, billingPeriodCount, meterId, bucketSize];
  return JSON.stringify([...cadence, sortedFilters(filters), termsOf(price)]);
}

function sortedFilters(filters: ComparedItem['filters']): [string, string[]][] {
  return Object.entries(filters ?? {})
    .map(([key, values]): [string, string[]] => [key, [...values].sort()])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function termsOf(price: PriceTerms): unknown[] {
  const amount = (value: string | null | undefined) => (value == null ? null : decimalString(value));
  const tiers = price.tiers?.map((tier) => [
    amount(tier.up_to),
    amount(tier.unit_amount),
    amount(tier.flat_amount ?? '0'),
  ]);
  const { transform_quantity: transform } = price;
  return [
    price.billing_model,
    price.currency,
    amount(price.amount),
    price.billing_model === 'TIERED' ? (price.tier_mode ?? 'VOLUME') : null,
    tiers ?? null,
    transform ? [String(transform.divide_by), transform.round ?? 'up'] : null,
    amount(price.percentage_rate),
    price.price_unit?.id ?? null,
  ];
}

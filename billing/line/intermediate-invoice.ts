import { decimal, decimalString, sum } from '../money/money.ts';
import type { BilledBefore } from '../price/charge-amount.ts';
import { earlier, type Interval } from '../time/calendar.ts';
import type { ChargeItem, ChargePeriod, ChargePlanInput, IntermediateInvoice } from './charge-input.ts';
import { servicesOf } from './charge-window.ts';
import type { Service } from './service.ts';

/** A service whose charge period began on an earlier intermediate invoice. */
export interface CountedService extends Service {
  /** Usage is counted from here, and what was billed of it is taken off. */
  billedBefore?: BilledBefore;
}

/**
 * Where the billing period that `start` lies in began, when intermediate invoices cut it there: the first of those that end
 * one at the beginning of the next, the last at `start`. Null when none did. spec: subscriptions-and-invoicing §2.14.1
 */
export function cutPeriodStart(start: string, invoices: readonly IntermediateInvoice[]): string | null {
  const before = invoices.find((invoice) => invoice.end === start && invoice.start < start);
  return before ? (cutPeriodStart(before.start, invoices) ?? before.start) : null;
}

/**
 * The services of an item on an invoice. Where intermediate invoices cut the period, everything is computed for the whole of
 * it, so that tiers go on and shares are shares of a whole period; of usage, windows that are billed through are left out, and
 * the one that is cut bills what it comes to from its start on, less what was billed of it.
 * spec: subscriptions-and-invoicing §2.14.1, §2.6.1
 */
export function countedServices(item: ChargeItem, input: ChargePlanInput): CountedService[] {
  const { intermediate = [] } = input;
  const cut = input.elapsed && cutPeriodStart(input.elapsed.start, intermediate);
  const cutNext = input.next && cutPeriodStart(input.next.start, intermediate);
  if (cut === null && cutNext === null) return servicesOf(item, input);
  const services = servicesOf(item, {
    ...input,
    elapsed: wholePeriod(input.elapsed, cut),
    next: wholePeriod(input.next, cutNext),
    billed: input.billed.filter((line) => !line.intermediate),
  });
  const start = input.elapsed?.start;
  if (item.priceType !== 'USAGE' || !start) return services;
  return services.flatMap((service) => {
    if (service.end <= start) return [];
    if (service.start >= start) return [service];
    return [{ ...service, start, billedBefore: billedOf(item, { start: service.start, end: start }, intermediate) }];
  });
}

function wholePeriod(period: ChargePeriod | null, cut: string | null): ChargePeriod | null {
  if (period === null || cut === null) return period;
  return { ...period, start: cut, full: { ...period.full, start: earlier(period.full.start, cut) } };
}

/** What intermediate invoices billed of an item for the time between. */
function billedOf(item: ChargeItem, { start, end }: Interval, invoices: readonly IntermediateInvoice[]): BilledBefore {
  const parts = invoices
    .flatMap((invoice) => invoice.parts)
    .filter((part) => part.subscriptionLineItemId === item.id && part.start >= start && part.end <= end);
  return {
    from: start,
    quantity: decimalString(sum(parts.map((part) => decimal(part.quantity)))),
    amount: decimalString(sum(parts.map((part) => decimal(part.amount)))),
    base: decimalString(sum(parts.map((part) => decimal(part.base)))),
  };
}

/** The threshold in force: the subscription's own, else its plan's; null when neither has one. spec: §2.14.1 */
export function effectiveThreshold(ofSubscription: string | null, ofPlan: string | null): string | null {
  return ofSubscription || ofPlan || null;
}

/** What the usage of a period so far brings about. */
export type ThresholdOutcome = { isReached: false } | { isReached: true; invoiced: Interval; rest: Interval };

/**
 * Whether usage that costs `usageAmount` so far is invoiced now: the period until now is, and the rest of it goes on. None and
 * 0 never are; neither is a period that has not begun or has ended. spec: subscriptions-and-invoicing §2.14.1
 */
export function thresholdOutcome(input: {
  threshold: string | null;
  usageAmount: string;
  period: Interval;
  now: string;
}): ThresholdOutcome {
  const { threshold, usageAmount, period, now } = input;
  const isOff = threshold === null || decimal(threshold).lte(0);
  if (isOff || now <= period.start || now >= period.end || decimal(usageAmount).lt(threshold)) {
    return { isReached: false };
  }
  return { isReached: true, invoiced: { start: period.start, end: now }, rest: { start: now, end: period.end } };
}

/** The part of a charge that a line still bills, never below nothing. */
export function remainderOf(whole: string, billed: string): string {
  const rest = decimal(whole).minus(billed);
  return decimalString(rest.isNegative() ? decimal('0') : rest);
}

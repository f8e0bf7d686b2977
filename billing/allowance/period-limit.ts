import { decimalString, storedDecimal, sum } from '../money/money.ts';
import { type CadenceRelation, type ChargeCadence, cadenceRelation } from '../time/cadence.ts';
import { type BillingPeriodInterval, earlier, type Interval, later } from '../time/calendar.ts';
import { epochMs } from '../time/local-time.ts';
import type { Allowance } from './allowance.ts';
import type { LimitPortion } from './shared-limit.ts';

/** What a portion gives to a period. */
export interface LimitShare extends Interval {
  limit: string | null;
  share: string | null;
}

/**
 * The limit of a part of a period: limit × its share of the full one, rounded half up to a whole unit. Unlimited stays
 * unlimited, and a full period keeps its limit. spec: subscriptions-and-invoicing §2.3.6
 */
export function limitOfPart(limit: string | null, part: BillingPeriodInterval): string | null {
  if (limit === null) return null;
  const length = epochMs(part.end) - epochMs(part.start);
  const whole = epochMs(part.full.end) - epochMs(part.full.start);
  if (length === whole) return decimalString(storedDecimal(limit));
  return decimalString(storedDecimal(limit).times(length).dividedBy(whole).toDecimalPlaces(0));
}

/** What each portion gives to a period, those that have no time in it left out. spec: subscriptions-and-invoicing §2.3.6 */
export function limitShares(portions: readonly LimitPortion[], period: BillingPeriodInterval): LimitShare[] {
  return portions.flatMap(({ limit, ...tenure }) => {
    const held = {
      start: later(tenure.start ?? period.start, period.start),
      end: earlier(tenure.end ?? period.end, period.end),
    };
    if (held.start >= held.end) return [];
    return [{ ...held, limit, share: limitOfPart(limit, { ...held, full: period.full }) }];
  });
}

/** The limit that shares make together; null when one of them is unlimited. */
export function limitOfShares(shares: readonly LimitShare[]): string | null {
  const parts = shares.map(({ share }) => share);
  return parts.includes(null) ? null : decimalString(sum(parts.map((part) => storedDecimal(part!))));
}

/**
 * The time whose share decides the limit of one of an allowance's windows. Where it resets with the billing period that is
 * the running one, for a shorter cadence the whole charge window (a first calendar period cuts it too); any other reset
 * window counts by itself, and of one that never resets (null) only the plan in force matters.
 * spec: subscriptions-and-invoicing §2.3.6, §2.6.3; catalogue-and-metering §8.4
 */
export function limitPeriodOf(
  window: Interval,
  { usageResetPeriod: reset }: Pick<Allowance, 'usageResetPeriod'>,
  charge: { period: BillingPeriodInterval; relation: CadenceRelation; cadence: ChargeCadence },
): BillingPeriodInterval | null {
  if (reset === 'NEVER') return null;
  const { period, relation } = charge;
  if (relation === 'longer' || !isOfBillingPeriod(reset, charge.cadence)) return { ...window, full: window };
  if (relation !== 'shorter') return period;
  const start = later(window.start, period.start);
  const isCut = period.full.start < period.start && window.start < period.start;
  return { start, end: window.end, full: { start: isCut ? window.start : start, end: window.end } };
}

/** Whether an allowance begins anew with the billing period. spec: catalogue-and-metering §8.4 */
export function isOfBillingPeriod(reset: Allowance['usageResetPeriod'], cadence: ChargeCadence): boolean {
  if (reset === null) return true;
  if (reset === 'NEVER') return false;
  return cadenceRelation({ billingPeriod: reset, billingPeriodCount: 1 }, cadence) === 'equal';
}

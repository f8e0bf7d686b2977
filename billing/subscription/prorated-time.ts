import { decimal, moneyString, roundToCurrency, sum, zero } from '../money/money.ts';
import type { DerivedPart } from '../price/derivation.ts';
import type { Interval } from '../time/calendar.ts';

/** What a change credits or charges of one charge period of an item; both amounts at or above zero. */
export interface ProratedTime extends Interval {
  amount: string;
  /** Before the cap. */
  uncapped: string;
}

/**
 * The amount of a prorated line by the charge periods it is made of: an item of a shorter cadence has several, and a later
 * change gives back of those alone that are not over. A capped amount is shared out in proportion, to the last unit of the
 * currency. spec: subscriptions-and-invoicing §2.8.2
 */
export function proratedTimes(
  parts: readonly Pick<DerivedPart, 'periodStart' | 'periodEnd' | 'amount'>[],
  amount: string,
  currency: string,
): ProratedTime[] {
  const whole = sum(parts.map((part) => decimal(part.amount)));
  let before = zero;
  let shared = zero;
  return parts.map((part) => {
    before = before.plus(part.amount);
    const until = whole.isZero()
      ? zero
      : roundToCurrency(decimal(amount).times(before).dividedBy(whole).toFixed(), currency);
    const own = until.minus(shared);
    shared = until;
    return {
      start: part.periodStart,
      end: part.periodEnd,
      amount: moneyString(own, currency),
      uncapped: moneyString(decimal(part.amount), currency),
    };
  });
}

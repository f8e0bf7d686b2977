import {
  type Decimal,
  decimal,
  fractionOf,
  greatest,
  least,
  moneyString,
  roundToCurrency,
  zero,
} from '../money/money.ts';
import { type Interval, localDaysBetween } from '../time/calendar.ts';
import { epochMs } from '../time/local-time.ts';

export type ProrationStrategy = 'second_based' | 'day_based';
export type ProrationBehavior = 'create_prorations' | 'none';
export type ProrationAction =
  | 'upgrade'
  | 'downgrade'
  | 'lateral'
  | 'quantity_change'
  | 'add_item'
  | 'remove_item'
  | 'cancellation'
  | 'pause';

/** What remains of a period from a moment on, as an exact fraction. */
export interface ProrationShare {
  numerator: number;
  denominator: number;
}

/** A change of one ADVANCE, RECURRING FIXED charge in the middle of its period. Costs are those of a whole period, exact. */
export interface ProrationInput {
  action: ProrationAction;
  behavior: ProrationBehavior;
  currency: string;
  period: Interval;
  effectiveAt: string;
  strategy: ProrationStrategy;
  timezone: string;
  invoiceCadence: 'ADVANCE' | 'ARREAR';
  /** cost(old quantity); null where the action has no old charge. */
  oldCost: Decimal | null;
  newCost: Decimal | null;
  /** What the invoice line of the period charged, after its discounts; null: no cap. */
  amountBilled: Decimal | null;
  creditsIssued: Decimal;
}

/** Amounts with the currency's digits. `net` is charge − credit. */
export interface Proration {
  share: ProrationShare;
  credit: string;
  charge: string;
  net: string;
  capped: boolean;
  settlement: 'invoice' | 'wallet_credit' | 'none';
}

/** Whether an action credits the old charge, charges the new one, and caps the credit. */
const sides: Record<ProrationAction, { credits: boolean; charges: boolean; caps: boolean }> = {
  upgrade: { credits: true, charges: true, caps: true },
  downgrade: { credits: true, charges: true, caps: true },
  lateral: { credits: true, charges: true, caps: true },
  quantity_change: { credits: true, charges: true, caps: false },
  add_item: { credits: false, charges: true, caps: false },
  remove_item: { credits: true, charges: false, caps: true },
  cancellation: { credits: true, charges: false, caps: true },
  pause: { credits: true, charges: false, caps: true },
};

/**
 * The part of the half-open period [S, E) from P on, P clamped into it: (E − P) ÷ (E − S) in milliseconds, or in local days of
 * the zone. spec: subscriptions-and-invoicing §2.8.1
 */
export function prorationShare(
  input: Pick<ProrationInput, 'period' | 'effectiveAt' | 'strategy' | 'timezone'>,
): ProrationShare {
  const { start, end } = input.period;
  const at = input.effectiveAt < start ? start : input.effectiveAt > end ? end : input.effectiveAt;
  if (input.strategy === 'day_based') {
    const days = (from: string) => localDaysBetween(from, end, input.timezone);
    return { numerator: days(at), denominator: Math.max(days(start), 1) };
  }
  return { numerator: epochMs(end) - epochMs(at), denominator: Math.max(epochMs(end) - epochMs(start), 1) };
}

/**
 * What a change credits and charges for the rest of the period, each side rounded once, and how the difference is settled: an
 * invoice, a wallet credit, or nothing. The credit is capped by what was billed less what was credited already. ARREAR charges
 * and behaviour `none` produce no amounts. spec: subscriptions-and-invoicing §2.8.2, §2.8.3
 */
export function prorate(input: ProrationInput): Proration {
  const share = prorationShare(input);
  const side = sides[input.action];
  const takesPart = input.behavior === 'create_prorations' && input.invoiceCadence === 'ADVANCE';
  const part = (cost: Decimal | null, counts: boolean): Decimal =>
    cost !== null && counts && takesPart
      ? roundToCurrency(fractionOf(cost, share.numerator, share.denominator), input.currency)
      : zero;
  const uncapped = part(input.oldCost, side.credits);
  const credit = cappedCredit(input.action, uncapped, input.amountBilled, input.creditsIssued);
  const charge = part(input.newCost, side.charges);
  const net = charge.minus(credit);
  return {
    share,
    credit: moneyString(credit, input.currency),
    charge: moneyString(charge, input.currency),
    net: moneyString(net, input.currency),
    capped: credit.lessThan(uncapped),
    settlement: settlementOf(net),
  };
}

/** Whether the action gives old charges back, and whether it makes new ones. spec: subscriptions-and-invoicing §2.8.2 */
export function sidesOf(action: ProrationAction): { credits: boolean; charges: boolean } {
  return sides[action];
}

/**
 * The credit an action gives: no more than what was billed less what was credited already, where the action has a cap and it
 * is known what was billed. spec: subscriptions-and-invoicing §2.8.2
 */
export function cappedCredit(
  action: ProrationAction,
  uncapped: Decimal,
  billed: Decimal | null,
  credited: Decimal,
): Decimal {
  if (!sides[action].caps || billed === null) return uncapped;
  return least(uncapped, greatest(billed.minus(credited), zero));
}

/** How a difference is settled. spec: subscriptions-and-invoicing §2.8.3 */
export function settlementOf(net: Decimal): Proration['settlement'] {
  return net.isZero() ? 'none' : net.isPositive() ? 'invoice' : 'wallet_credit';
}

/** A share as a decimal of ten places, as displays and wallet transactions show it. */
export function shareText({ numerator, denominator }: ProrationShare): string {
  return decimal(numerator).dividedBy(denominator).toFixed(10);
}

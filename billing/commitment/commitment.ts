import { type Decimal, decimal, greatest, least, roundToCurrency, storedDecimal, sum, zero } from '../money/money.ts';

/** What a subscription commits itself to, and where in its commitment period an invoice stands. Decimals as strings. */
export interface SubscriptionCommitment {
  amount: string;
  overageFactor: string;
  trueUp: boolean;
  /** Base cost of the usage that earlier invoices of the same commitment period billed: without the factor. */
  prior: string;
  /** The commitment is longer than a billing period: money is split exactly, whole units are not kept together. */
  cumulative: boolean;
  /** The billed period ends the commitment period, so what is missing is due. */
  last: boolean;
}

/** Usage of one line before the commitment. */
export interface UsageCharge {
  id: string;
  /** Null for a price without one: tiers, packages, percentages. */
  unitAmount: Decimal | null;
  quantity: Decimal;
  cost: Decimal;
}

/** A share of a charge: what it costs without the factor, and what is billed for it, exact. */
export interface CommittedShare {
  quantity: Decimal;
  base: Decimal;
  amount: Decimal;
}

export interface CommittedCharge {
  id: string;
  within: CommittedShare | null;
  overage: CommittedShare | null;
}

export interface CommittedUsage {
  charges: CommittedCharge[];
  /** Rounded; 0 where no line is to be made. */
  trueUp: Decimal;
}

/** In force only with an amount; a factor of 1 bills what is above at its price. spec: §2.7.1 (dec) */
export function isActive(commitment: Pick<SubscriptionCommitment, 'amount' | 'overageFactor'>): boolean {
  return decimal(commitment.amount).greaterThan(zero) && decimal(commitment.overageFactor).greaterThanOrEqualTo(1);
}

/**
 * Walks the usage lines of an invoice in order until the commitment is used up: what fits is billed as it is, the rest times
 * the factor. Where a line crosses it, whole units stay within; prices without a unit price, and commitments longer than a
 * billing period, are split by money, where the quantity of a line without unit price stays on its first share. Nothing above
 * and true-up on: what is missing. spec: subscriptions-and-invoicing §2.7.1, §2.7.2
 */
export function commitUsage(
  charges: readonly UsageCharge[],
  commitment: SubscriptionCommitment,
  currency: string,
): CommittedUsage {
  if (!isActive(commitment)) return { charges: charges.map(whole), trueUp: zero };
  const factor = decimal(commitment.overageFactor);
  let remaining = greatest(decimal(commitment.amount).minus(commitment.prior), zero);
  const split = charges.map((charge): CommittedCharge => {
    if (charge.cost.lessThanOrEqualTo(remaining)) {
      remaining = remaining.minus(charge.cost);
      return whole(charge);
    }
    const within = remaining.isZero() ? null : shareWithin(charge, remaining, commitment.cumulative);
    remaining = zero;
    return { id: charge.id, within, overage: shareAbove(charge, within, factor) };
  });
  return { charges: split, trueUp: missingAmount(split, commitment, currency) };
}

function whole({ id, quantity, cost }: UsageCharge): CommittedCharge {
  return { id, within: { quantity, base: cost, amount: cost }, overage: null };
}

function shareWithin({ unitAmount, quantity }: UsageCharge, remaining: Decimal, cumulative: boolean) {
  const unit = unitAmount?.greaterThan(zero) ? unitAmount : null;
  if (unit === null) return { quantity, base: remaining, amount: remaining };
  if (cumulative) return { quantity: storedDecimal(remaining.dividedBy(unit)), base: remaining, amount: remaining };
  const units = remaining.dividedBy(unit).floor();
  if (units.isZero()) return null;
  const cost = units.times(unit);
  return { quantity: units, base: cost, amount: cost };
}

function shareAbove(charge: UsageCharge, within: CommittedShare | null, factor: Decimal): CommittedShare {
  const base = charge.cost.minus(within?.base ?? zero);
  return { quantity: charge.quantity.minus(within?.quantity ?? zero), base, amount: base.times(factor) };
}

function missingAmount(charges: readonly CommittedCharge[], commitment: SubscriptionCommitment, currency: string) {
  if (!commitment.trueUp || !commitment.last || charges.some((charge) => charge.overage !== null)) return zero;
  const ofShare = ({ within }: CommittedCharge): Decimal => within?.amount ?? zero;
  // Usage that reached it leaves nothing open, whatever the rounding of its lines loses.
  if (sum(charges.map(ofShare)).plus(commitment.prior).greaterThanOrEqualTo(commitment.amount)) return zero;
  // A commitment of one period and its usage add up to it as they are shown; a longer one is exact over its invoices.
  const billed = charges.map((charge) =>
    commitment.cumulative ? ofShare(charge) : roundToCurrency(ofShare(charge), currency),
  );
  const open = decimal(commitment.amount).minus(commitment.prior).minus(sum(billed));
  return greatest(roundToCurrency(open, currency), zero);
}

/** A commitment of one line in money. Exact. spec: subscriptions-and-invoicing §2.7.3 */
export interface LineCommitment {
  /** The value, or what the value costs where it is a quantity. */
  amount: Decimal;
  overageFactor: Decimal;
  trueUp: boolean;
  /** Base cost that earlier invoices of the same commitment period billed; 0 where it is one billing period. */
  prior: Decimal;
}

/** What a line, or one window of it, comes to. Exact. */
export interface CommittedAmount {
  amount: Decimal;
  utilized: Decimal;
  overage: Decimal;
  trueUp: Decimal;
}

export const nothingCommitted: CommittedAmount = { amount: zero, utilized: zero, overage: zero, trueUp: zero };

/**
 * The commitment of a line: what fits is utilized, the rest is billed times the factor, and with true-up what is missing too.
 * With a prior cost it is the cumulative rule on the line. spec: subscriptions-and-invoicing §2.7.3, §2.7.2
 */
export function commitLine(cost: Decimal, commitment: LineCommitment): CommittedAmount {
  const remaining = greatest(commitment.amount.minus(commitment.prior), zero);
  const utilized = least(cost, remaining);
  const overage = cost.minus(utilized).times(commitment.overageFactor);
  const trueUp = commitment.trueUp ? remaining.minus(utilized) : zero;
  return { amount: utilized.plus(overage).plus(trueUp), utilized, overage, trueUp };
}

/** Adds the amounts of windows; nothing is rounded. spec: subscriptions-and-invoicing §2.7.4 */
export function addCommitted(first: CommittedAmount, second: CommittedAmount): CommittedAmount {
  return {
    amount: first.amount.plus(second.amount),
    utilized: first.utilized.plus(second.utilized),
    overage: first.overage.plus(second.overage),
    trueUp: first.trueUp.plus(second.trueUp),
  };
}

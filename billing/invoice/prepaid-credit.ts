import { type Decimal, decimal, greatest, least, roundDownToCurrency, zero } from '../money/money.ts';
import type { InvoiceWallet } from './invoice-input.ts';

/** A line that credits may pay: its price type and what is left of it after both discounts. */
export interface CreditableLine {
  priceType: 'FIXED' | 'USAGE';
  net: Decimal;
}

export interface CreditUse {
  /** What credits pay of each line, in line order. */
  ofLine: Decimal[];
  /** What each wallet pays, in wallet order. */
  ofWallet: Decimal[];
  total: Decimal;
}

/**
 * Prepaid credits on USAGE lines, in line order, each from the wallets in their order; every wallet gives its allowance rounded
 * down to the currency, and all together pay at most `ceiling`. spec: subscriptions-and-invoicing §2.16 step 6, wallets §2.12
 */
export function applyPrepaidCredits(
  lines: readonly CreditableLine[],
  wallets: readonly InvoiceWallet[],
  ceiling: Decimal,
  currency: string,
): CreditUse {
  const allowances = wallets.map((wallet) => greatest(roundDownToCurrency(decimal(wallet.allowance), currency), zero));
  const left = [...allowances];
  let room = greatest(ceiling, zero);
  const ofLine = lines.map(({ priceType, net }) => {
    let paid = zero;
    if (priceType !== 'USAGE') return paid;
    const need = greatest(roundDownToCurrency(net, currency), zero);
    for (const position of left.keys()) {
      const use = least(least(left[position]!, need.minus(paid)), room);
      left[position] = left[position]!.minus(use);
      room = room.minus(use);
      paid = paid.plus(use);
    }
    return paid;
  });
  const ofWallet = allowances.map((allowance, position) => allowance.minus(left[position]!));
  return { ofLine, ofWallet, total: ofLine.reduce((all, part) => all.plus(part), zero) };
}

/**
 * Credits of an imported invoice, whatever wallet they were taken from elsewhere: each line takes what its net holds, in line
 * order, all together at most `ceiling`. Where lines say what is `given` to them, they take that and the others nothing.
 * spec: subscriptions-and-invoicing §1.11.1 total_prepaid_applied
 */
export function applyImportedCredits(
  lines: readonly (CreditableLine & { given: Decimal })[],
  credits: Decimal,
  ceiling: Decimal,
): CreditUse {
  const isByLine = lines.some(({ given }) => given.greaterThan(zero));
  const total = least(credits, greatest(ceiling, zero));
  let left = total;
  const ofLine = lines.map(({ net, given }) => {
    const room = least(left, greatest(net, zero));
    const paid = isByLine ? least(given, room) : room;
    left = left.minus(paid);
    return paid;
  });
  return { ofLine, ofWallet: [], total: total.minus(left) };
}

import { type Decimal, decimal, decimalString, greatest, least, roundUpToCurrency, sum, zero } from '../money/money.ts';
import { type CreditLot, inOrderOfUse, isUsable } from '../wallet/credit-lot.ts';
import { creditScale, creditsOf } from '../wallet/wallet.ts';

/** When credits that are bought are taxed: as what they pay is invoiced, or as they are bought. design: money-in-wallets finding 6 */
export const topupTaxes = ['at_use', 'at_purchase'] as const;
export type TopupTax = (typeof topupTaxes)[number];

const smallestCredit = decimal(10).pow(-creditScale);

/** Lots that a wallet pays an invoice with, in order of use; decimals as strings. */
export interface PayingLots {
  conversionRate: string;
  lots: readonly { credits: string; isTaxed: boolean }[];
}

/**
 * The lots that a wallet pays with at the time of reference, for `taxedPart`; null where none of them was taxed when it was bought, so
 * that nothing differs. spec: wallets-and-payments §2.4; design: money-in-wallets finding 6
 */
export function payingLots(
  { conversionRate, lots }: { conversionRate: string; lots: readonly CreditLot[] },
  referenceTime: string,
): PayingLots | null {
  const usable = lots.filter((lot) => isUsable(lot, referenceTime));
  if (!usable.some(({ isTaxed }) => isTaxed)) return null;
  return {
    conversionRate,
    lots: inOrderOfUse(usable).map(({ creditsAvailable, isTaxed }) => ({
      credits: decimalString(creditsAvailable),
      isTaxed: isTaxed ?? false,
    })),
  };
}

/**
 * The part of what a wallet pays of an invoice that comes from lots which were taxed when they were bought, at the currency's precision:
 * the taxable amount is lower by it. What the other lots pay is rounded up, so that no part of a cent goes untaxed; one in the last
 * decimal of credits, which comes of rounding, counts for nothing. design: money-in-wallets finding 6
 */
export function taxedPart(used: Decimal, paying: PayingLots | undefined, currency: string): Decimal {
  if (paying === undefined || used.isZero()) return zero;
  const { conversionRate, lots } = paying;
  let needed = creditsOf(used, conversionRate);
  const untaxed = sum(
    lots.map(({ credits, isTaxed }) => {
      const taken = least(decimal(credits), needed);
      needed = needed.minus(taken);
      return isTaxed ? zero : taken;
    }),
  );
  if (!untaxed.greaterThan(zero)) return used;
  const paidUntaxed = roundUpToCurrency(untaxed.minus(smallestCredit).times(conversionRate), currency);
  return greatest(used.minus(paidUntaxed), zero);
}

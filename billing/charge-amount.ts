import type { DerivedPart, DerivedProration } from './derivation.ts';
import { currencyPrecision, type Decimal, decimalString, fractionOf, moneyString, roundToCurrency } from './money.ts';

const displayDecimals = 30;

/** The share of a whole charge period that is billed; all of it without a proration. */
export function proratedCost(cost: Decimal, proration: DerivedProration | null): Decimal {
  return proration ? fractionOf(cost, proration.numeratorMs, proration.denominatorMs) : cost;
}

/**
 * What the cost of a part comes to: times the proration, rounded once to the currency; as a number and as the derivation
 * tells it. spec: subscriptions-and-invoicing §2.6.2, §2.6.3
 */
export function amountOfCost(
  cost: Decimal,
  proration: DerivedProration | null,
  currency: string,
): { amount: Decimal; derived: Pick<DerivedPart, 'cost' | 'proration' | 'exactAmount' | 'rounding' | 'amount'> } {
  const exact = proratedCost(cost, proration);
  const amount = roundToCurrency(exact, currency);
  return {
    amount,
    derived: {
      cost: decimalString(cost),
      proration,
      exactAmount: decimalString(exact.toDecimalPlaces(displayDecimals)),
      rounding: { precision: currencyPrecision(currency), mode: 'half_away_from_zero' },
      amount: moneyString(amount, currency),
    },
  };
}

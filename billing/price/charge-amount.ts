import {
  currencyPrecision,
  type Decimal,
  decimalString,
  fractionOf,
  moneyString,
  roundToCurrency,
  zero,
} from '../money/money.ts';
import type { DerivedPart, DerivedProration } from './derivation.ts';

/** Since when usage of a charge period counts, and what was billed of it already. */
export interface BilledBefore {
  from: string;
  quantity: string;
  amount: string;
  base: string;
}

const displayDecimals = 30;

/** The share of a whole charge period that is billed; all of it without a proration. */
export function proratedCost(cost: Decimal, proration: DerivedProration | null): Decimal {
  return proration ? fractionOf(cost, proration.numeratorMs, proration.denominatorMs) : cost;
}

type AmountMembers = Pick<DerivedPart, 'cost' | 'proration' | 'exactAmount' | 'rounding' | 'billedBefore' | 'amount'>;

/**
 * What the cost of a part comes to: times the proration, rounded once to the currency, less what was billed of it before and
 * never below nothing; as a number and as the derivation tells it. spec: subscriptions-and-invoicing §2.6.2, §2.6.3, §2.14.1
 */
export function amountOfCost(
  cost: Decimal,
  proration: DerivedProration | null,
  currency: string,
  before?: BilledBefore,
): { amount: Decimal; derived: AmountMembers } {
  const exact = proratedCost(cost, proration);
  const whole = roundToCurrency(exact, currency);
  const amount = before ? atLeastZero(whole.minus(before.amount)) : whole;
  return {
    amount,
    derived: {
      cost: decimalString(cost),
      proration,
      exactAmount: decimalString(exact.toDecimalPlaces(displayDecimals)),
      rounding: { precision: currencyPrecision(currency), mode: 'half_away_from_zero' },
      ...(before ? { billedBefore: { ...before, wholeAmount: moneyString(whole, currency) } } : {}),
      amount: moneyString(amount, currency),
    },
  };
}

function atLeastZero(value: Decimal): Decimal {
  return value.isNegative() ? zero : value;
}

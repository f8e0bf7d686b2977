import { currencyPrecision, decimal, decimalString, sum } from '../../billing/money/money.ts';

/** Money that a fake took from a payer, by its own books. */
export interface FakeCapture {
  /** The provider's id of it, under which a payment of ours is recorded. */
  id: string;
  /** Name of ours that it carries on the wire; null where it carries none. */
  token: string | null;
  /** Units of the currency, as decimal text without trailing zeros. */
  amount: string;
  /** ISO 4217, in small letters. */
  currency: string;
}

/** Money that a fake gave back for good; one that is pending or has failed is none. */
export interface FakeReturn extends FakeCapture {
  /** The capture that it is a part of. */
  captureId: string;
}

/**
 * The amount and currency of money that a provider counts in the smallest unit by ISO 4217, or in one of as many `digits`. The adapters have
 * their own conversion, so that an error of theirs shows.
 */
export function moneyInUnits(minor: number | string, currency: string, digits = currencyPrecision(currency)) {
  return wholeMoney(decimalString(decimal(minor).dividedBy(decimal(10).pow(digits))), currency);
}

/** Refunds of a provider that shows none of them singly: those without a name of ours are one sum of their capture. */
export function summedElsewhere(returned: readonly FakeReturn[]): FakeReturn[] {
  const elsewhere = Map.groupBy(
    returned.filter(({ token }) => token === null),
    ({ captureId }) => captureId,
  );
  const sums = [...elsewhere].flatMap(([captureId, [first, ...others]]): FakeReturn[] => {
    if (!first) return [];
    const amount = decimalString(sum([first, ...others].map((each) => decimal(each.amount))));
    return [{ ...first, id: elsewhereOf(captureId), amount }];
  });
  return [...returned.filter(({ token }) => token !== null), ...sums];
}

/** Name of what went back of a capture without us, where its provider tells only the sum. */
export function elsewhereOf(captureId: string): string {
  return `${captureId}/elsewhere`;
}

/** The amount and currency of money that a provider counts in units of the currency. */
export function wholeMoney(amount: number | string, currency: string): Pick<FakeCapture, 'amount' | 'currency'> {
  return { amount: decimalString(decimal(String(amount))), currency: currency.toLowerCase() };
}

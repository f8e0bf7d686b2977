import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Least amount of an invoice of Moyasar, in the smallest unit of any currency. */
const leastMinor = 100;

/**
 * The whole number by which Moyasar names an amount, in the smallest unit of the currency by ISO 4217: `12.5` sar is 1250, `1` kwd
 * is 1000 and `1` jpy is 1. Exact, from decimal text. Throws `validation_error` for an amount with more decimals.
 * design: money-in-checkout §A7
 */
export function moyasarAmount(amount: string, currency: string): number {
  const minor = decimal(amount).times(unitsOf(currency));
  if (!minor.isInteger()) {
    const step = decimalString(decimal(1).dividedBy(unitsOf(currency)));
    throw notTaken(amount, currency, `moyasar takes ${currency} in steps of ${step}`);
  }
  return minor.toNumber();
}

/** Throws `validation_error` for an amount under Moyasar's least one, before a payer is asked for it. */
export function refuseTooLittle(amount: string, currency: string): void {
  if (decimal(amount).times(unitsOf(currency)).lessThan(leastMinor)) {
    const least = decimalString(decimal(leastMinor).dividedBy(unitsOf(currency)));
    throw notTaken(amount, currency, `moyasar takes ${least} ${currency} or more`);
  }
}

/** An amount of Moyasar as decimal text without trailing zeros. */
export function amountOfMoyasar(minor: number, currency: string): string {
  return decimalString(decimal(minor).dividedBy(unitsOf(currency)));
}

function unitsOf(currency: string) {
  return decimal(10).pow(currencyPrecision(currency.toLowerCase()));
}

function notTaken(amount: string, currency: string, rule: string) {
  return refuse('validation_error', `${amount} ${currency} cannot be paid by moyasar: ${rule}`, {
    fields: { amount: rule },
  });
}

import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Digits that Nomod's answers, which name amounts as numbers, tell exactly. */
const mostDigits = 15;

/**
 * The text by which an amount is asked of Nomod, in whole units with the decimals of the currency by ISO 4217: `12.5` aed is `12.50`,
 * `1` kwd is `1.000` and `1` jpy is `1`. Exact, from decimal text. Throws `validation_error` for an amount with more decimals, or more
 * digits than Nomod's answers tell exactly. design: money-in-checkout §A7
 */
export function nomodAmount(amount: string, currency: string): string {
  const digits = currencyPrecision(currency.toLowerCase());
  const value = decimal(amount);
  if (value.decimalPlaces() > digits) {
    const step = decimalString(decimal(10).pow(-digits));
    throw notTaken(amount, currency, `nomod takes ${currency} in steps of ${step}`);
  }
  if (value.precision() > mostDigits) {
    throw notTaken(amount, currency, `nomod tells amounts of more than ${mostDigits} digits inexactly`);
  }
  return value.toFixed(digits);
}

/** An amount of Nomod's answers as decimal text without trailing zeros. */
export function amountOfNomod(amount: number | string): string {
  return decimalString(decimal(amount));
}

function notTaken(amount: string, currency: string, rule: string) {
  return refuse('validation_error', `${amount} ${currency} cannot be paid by nomod: ${rule}`, {
    fields: { amount: rule },
  });
}

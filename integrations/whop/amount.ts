import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Currencies that Whop names, but for those that are none of a state. docs: providers.md */
const taken = new Set(
  `usd sgd inr aud brl cad dkk eur nok gbp sek chf hkd huf jpy mxn myr pln czk nzd aed cop ron thb bgn idr dop php try krw twd
  vnd pkr clp uyu ars zar dzd tnd mad kes kwd jod all xcd amd bsd bhd bob bam khr crc xof egp etb gmd ghs gtq gyd ils jmd mop
  mga mur mdl mnt nad ngn mkd omr pyg pen qar rwf sar rsd lkr tzs ttd uzs rub cny kzt awg`.split(/\s+/),
);

/**
 * The JSON number by which Whop names an amount, in units of the currency: `12.5` usd is 12.5. Exact: throws `validation_error` for an
 * amount with more decimals than the currency has by ISO 4217, for one that a JSON number cannot hold, and for a currency that Whop does
 * not take. design: money-in-checkout §A7
 */
export function whopAmount(amount: string, currency: string): number {
  const code = currency.toLowerCase();
  if (!taken.has(code)) {
    throw refuse('validation_error', `whop takes no payments in ${code}; use another currency or provider`, {
      fields: { currency: 'not taken by whop' },
    });
  }
  const exact = decimal(amount);
  const digits = currencyPrecision(code);
  if (exact.decimalPlaces() > digits) {
    throw notTaken(amount, code, `whop takes ${code} in steps of ${decimalString(decimal(10).pow(-digits))}`);
  }
  const units = exact.toNumber();
  if (amountOfWhop(units) !== decimalString(exact)) throw notTaken(amount, code, 'whop takes no number so large');
  return units;
}

/** An amount of Whop as decimal text without trailing zeros: the shortest one that names its number. */
export function amountOfWhop(units: number): string {
  return decimalString(decimal(String(units)));
}

function notTaken(amount: string, currency: string, rule: string) {
  return refuse('validation_error', `${amount} ${currency} cannot be paid by whop: ${rule}`, {
    fields: { amount: rule },
  });
}

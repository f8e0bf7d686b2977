import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/**
 * Currencies that Paddle takes, by the types of the SDK 3.10.0, all with the decimals of ISO 4217. But for clp and vnd, whose decimals at Paddle
 * are told in two ways: asked in the wrong ones their payer would pay a hundredth, or a hundred times as much. docs: providers.md
 */
const taken = new Set(
  `ars aud brl cad chf cny cop czk dkk eur gbp hkd huf ils inr jpy krw mxn nok nzd pen pln rub sek sgd thb try twd uah usd
  zar`.split(/\s+/),
);

/** One unit of a currency in the smallest unit by ISO 4217, in which Paddle counts. */
function unitsOf(currency: string) {
  return decimal(10).pow(currencyPrecision(currency.toLowerCase()));
}

/**
 * The whole number, as text, by which Paddle names an amount: `12.5` usd is 1250 and `100` jpy is 100. Exact, from decimal text. Throws
 * `validation_error` for a currency that Paddle does not take, and for an amount that it cannot express. design: money-in-checkout §A7
 */
export function paddleAmount(amount: string, currency: string): string {
  if (!taken.has(currency.toLowerCase())) {
    throw refuse('validation_error', `paddle takes no payments in ${currency}; use another currency or provider`, {
      fields: { currency: 'not taken by paddle' },
    });
  }
  const units = unitsOf(currency);
  const minor = decimal(amount).times(units);
  if (minor.isInteger()) return minor.toFixed(0);
  const rule = `paddle takes ${currency} in steps of ${decimalString(decimal(1).dividedBy(units))}`;
  throw refuse('validation_error', `${amount} ${currency} cannot be paid by paddle: ${rule}`, {
    fields: { amount: rule },
  });
}

/** An amount of Paddle as decimal text without trailing zeros. */
export function amountOfPaddle(minor: string, currency: string): string {
  return decimalString(decimal(minor).dividedBy(unitsOf(currency)));
}

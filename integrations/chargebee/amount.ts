import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Currencies whose amounts Chargebee names in units of them; for others without smaller units it is not published. docs: providers.md */
const whole = new Set(['jpy', 'krw', 'xaf', 'xof']);
/** Most that Chargebee takes, in its units. */
const mostMinor = Number.MAX_SAFE_INTEGER;

/**
 * The whole number by which Chargebee names an amount: `12.5` usd is 1250 and `1` jpy is 1. Exact, from decimal text. Throws
 * `validation_error` for an amount with more decimals or one that is too large, and for a currency whose units at Chargebee are not known.
 * design: money-in-checkout §A7
 */
export function chargebeeAmount(amount: string, currency: string): number {
  const unit = unitOf(currency);
  const minor = decimal(amount).times(unit);
  const inUnits = (units: number) => decimalString(decimal(units).dividedBy(unit));
  if (!minor.isInteger()) throw notTaken(amount, currency, `in steps of ${inUnits(1)}`);
  if (minor.greaterThan(mostMinor)) throw notTaken(amount, currency, `no more than ${inUnits(mostMinor)} ${currency}`);
  return minor.toNumber();
}

function notTaken(amount: string, currency: string, how: string) {
  const rule = `chargebee takes ${currency} ${how}`;
  return refuse('validation_error', `${amount} ${currency} cannot be paid by chargebee: ${rule}`, {
    fields: { amount: rule },
  });
}

/** An amount of Chargebee as decimal text without trailing zeros. */
export function amountOfChargebee(minor: number, currency: string): string {
  return decimalString(decimal(minor).dividedBy(unitOf(currency)));
}

function unitOf(currency: string): number {
  const code = currency.toLowerCase();
  if (whole.has(code)) return 1;
  if (currencyPrecision(code) === 2) return 100;
  throw refuse(
    'validation_error',
    `chargebee takes no payments in ${currency} here; use another currency or provider`,
    {
      fields: { currency: 'not taken by chargebee' },
    },
  );
}

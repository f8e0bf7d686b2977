import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Currencies whose amounts Stripe takes without decimals. docs: providers.md */
const wholeUnits = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
/** Currencies without decimals that Stripe takes as hundredths all the same. */
const wholeHundredths = new Set(['isk', 'ugx']);
/** Currencies with three decimals; card networks know two of them, so the last digit is 0. */
const thousandths = new Set('bhd jod kwd omr tnd'.split(' '));

/** Least amounts that Stripe takes, in units of the currency; those of others follow the account's own currency and are refused by Stripe. */
const least: Readonly<Record<string, string>> = {
  aed: '2',
  aud: '0.5',
  brl: '0.5',
  cad: '0.5',
  chf: '0.5',
  czk: '15',
  dkk: '2.5',
  eur: '0.5',
  gbp: '0.3',
  hkd: '4',
  huf: '175',
  inr: '0.5',
  jpy: '50',
  mxn: '10',
  myr: '2',
  nok: '3',
  nzd: '0.5',
  pln: '2',
  ron: '2',
  sek: '3',
  sgd: '0.5',
  thb: '10',
  usd: '0.5',
};

/** Digits of a Stripe amount by currency; throws for those of which Stripe says nothing and ISO has other than two. */
function digitsOf(currency: string): number {
  if (wholeUnits.has(currency)) return 0;
  if (thousandths.has(currency)) return 3;
  if (wholeHundredths.has(currency) || currencyPrecision(currency) === 2) return 2;
  throw refuse('validation_error', `stripe takes no payments in ${currency}; use another currency or provider`, {
    fields: { currency: 'not taken by stripe' },
  });
}

/**
 * The whole number by which Stripe names an amount: `12.5` usd is 1250. Exact, from decimal text. Throws `validation_error` for an amount
 * that Stripe cannot express. design: money-in-checkout §A7
 */
export function stripeAmount(amount: string, currency: string): string {
  const code = currency.toLowerCase();
  const digits = digitsOf(code);
  const minor = decimal(amount).times(decimal(10).pow(digits));
  const step = wholeHundredths.has(code) ? 100 : digits === 3 ? 10 : 1;
  if (!minor.dividedBy(step).isInteger()) {
    throw notTaken(
      amount,
      code,
      `stripe takes ${code} in steps of ${decimalString(decimal(step).dividedBy(decimal(10).pow(digits)))}`,
    );
  }
  return minor.toFixed(0);
}

/** Throws `validation_error` for an amount under Stripe's least one, before a payer is asked for it. */
export function refuseTooLittle(amount: string, currency: string): void {
  const minimum = least[currency.toLowerCase()];
  if (minimum !== undefined && decimal(amount).lessThan(minimum)) {
    throw notTaken(amount, currency, `stripe takes ${minimum} ${currency} or more`);
  }
}

/** An amount of Stripe as decimal text without trailing zeros. */
export function amountOfStripe(minor: number, currency: string): string {
  return decimalString(decimal(minor).dividedBy(decimal(10).pow(digitsOf(currency.toLowerCase()))));
}

function notTaken(amount: string, currency: string, rule: string) {
  return refuse('validation_error', `${amount} ${currency} cannot be paid by stripe: ${rule}`, {
    fields: { amount: rule },
  });
}

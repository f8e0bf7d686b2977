import { decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';

/** Currencies that Razorpay takes, by the digits of its amounts. docs: providers.md */
const digitsByCurrency = new Map([
  ...listed(0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'),
  ...listed(
    2,
    `aed all amd aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd btn bwp bzd cad chf cny cop crc cup cve czk dkk dop dzd egp etb
    eur fjd gbp ghs gip gmd gtq gyd hkd hnl hrk htg huf idr ils inr jmd kes kgs khr kyd kzt lak lkr lrd lsl mad mdl mga mkd mmk
    mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pen pgk php pkr pln qar ron rsd rub sar scr sek sgd sll sos svc szl
    thb try ttd twd tzs uah usd uyu uzs xcd yer zar zmw`,
  ),
  ...listed(3, 'bhd iqd jod kwd omr tnd'),
]);

/** Least amounts that Razorpay takes, in units of the currency; those of others it says itself. spec: wallets-and-payments §2.22 */
const least: Readonly<Record<string, string>> = { inr: '1', usd: '0.01' };

function listed(digits: number, currencies: string): [string, number][] {
  return currencies.split(/\s+/).map((currency) => [currency, digits]);
}

function digitsOf(currency: string): number {
  const digits = digitsByCurrency.get(currency);
  if (digits !== undefined) return digits;
  throw refuse('validation_error', `razorpay takes no payments in ${currency}; use another currency or provider`, {
    fields: { currency: 'not taken by razorpay' },
  });
}

/**
 * The whole number by which Razorpay names an amount: `12.5` inr is 1250. Exact, from decimal text. Throws `validation_error` for an amount
 * that Razorpay cannot express; of three decimals the last is 0. design: money-in-checkout §A7
 */
export function razorpayAmount(amount: string, currency: string): number {
  const code = currency.toLowerCase();
  const digits = digitsOf(code);
  const unit = decimal(10).pow(digits);
  const minor = decimal(amount).times(unit);
  const step = digits === 3 ? 10 : 1;
  if (!minor.dividedBy(step).isInteger()) {
    throw notTaken(amount, code, `razorpay takes ${code} in steps of ${decimalString(decimal(step).dividedBy(unit))}`);
  }
  if (!Number.isSafeInteger(minor.toNumber())) throw notTaken(amount, code, 'razorpay takes no number so large');
  return minor.toNumber();
}

/** Throws `validation_error` for an amount under Razorpay's least one, before a payer is asked for it. */
export function refuseTooLittle(amount: string, currency: string): void {
  const code = currency.toLowerCase();
  const minimum = least[code];
  if (minimum !== undefined && decimal(amount).lessThan(minimum)) {
    throw notTaken(amount, code, `razorpay takes ${minimum} ${code} or more`);
  }
}

/** An amount of Razorpay as decimal text without trailing zeros. */
export function amountOfRazorpay(minor: number, currency: string): string {
  return decimalString(decimal(minor).dividedBy(decimal(10).pow(digitsOf(currency.toLowerCase()))));
}

function notTaken(amount: string, currency: string, rule: string) {
  return refuse('validation_error', `${amount} ${currency} cannot be paid by razorpay: ${rule}`, {
    fields: { amount: rule },
  });
}

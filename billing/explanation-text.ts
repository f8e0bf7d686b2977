import { currencyPrecision, decimal } from './money.ts';

/** An amount's digits: those of its currency, and all that an exact amount has beyond them. `312.5` → `312.50` */
export function amountText(amount: string, currency: string): string {
  const exact = decimal(amount);
  return exact.toFixed(Math.max(exact.decimalPlaces(), currencyPrecision(currency)));
}

/** An amount with its currency: `312.50 usd` */
export function moneyText(amount: string, currency: string): string {
  return `${amountText(amount, currency)} ${currency}`;
}

/** An instant of storage, without milliseconds where there are none. */
export function shortInstant(instant: string): string {
  return instant.replace(/\.0+Z$/, 'Z');
}

/**
 * When an answer was given, cut to the millisecond: the part of a watermark behind its `@`, in seconds since 1970. Null
 * for a watermark of another form.
 */
export function watermarkInstant(watermark: string | null): string | null {
  const [, seconds, fraction = ''] = /@(\d{1,11})(?:\.(\d+))?$/.exec(watermark ?? '') ?? [];
  if (seconds === undefined) return null;
  const milliseconds = Number(`${seconds}${fraction.slice(0, 3).padEnd(3, '0')}`);
  return new Date(milliseconds).toISOString();
}

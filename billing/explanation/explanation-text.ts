import { currencyPrecision, decimal } from '../money/money.ts';

/** How an explanation writes its values: to the last digit for programs, or for people in their time zone. */
export interface ExplanationWords {
  /** An amount with its currency. */
  money(amount: string, currency: string): string;
  /** An amount whose currency stands beside it. */
  digits(amount: string, currency: string): string;
  quantity(plain: string): string;
  instant(at: string): string;
  /** What somebody called something. */
  name(text: string): string;
  /** A part of a whole, both in milliseconds, as the fraction a calculator needs. */
  fraction(part: number, whole: number): string;
}

/** Values as they are stored: amounts with all their digits, instants in UTC. */
export const exactWords: ExplanationWords = {
  money: moneyText,
  digits: amountText,
  quantity: (plain) => plain,
  instant: shortInstant,
  name: (text) => `"${text}"`,
  fraction: (part, whole) => `${part} / ${whole}`,
};

/** From an instant until another. */
export function spanText(start: string, end: string, words: ExplanationWords): string {
  return `from ${words.instant(start)} until ${words.instant(end)}`;
}

const lengths: [name: string, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
];

/** Two times in the longest unit that measures both without a rest: `10 of 31 days`. */
export function wholeUnits(part: number, whole: number): { part: number; whole: number; unit: string } {
  const [name, ms] = lengths.find(([, length]) => part % length === 0 && whole % length === 0) ?? ['millisecond', 1];
  return { part: part / ms, whole: whole / ms, unit: whole === ms ? name : `${name}s` };
}

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

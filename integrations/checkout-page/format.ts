import { currencyPrecision } from '../../billing/money/money.ts';
import type { CheckoutLanguage, CheckoutLine, CheckoutOrder } from './view.ts';

// Dates of the product's pages are written the British way in English.
const dateLocale: Record<CheckoutLanguage, string> = { en: 'en-GB', de: 'de', ar: 'ar' };

/** Values as a language writes them. Amounts and quantities are plain decimals, and every digit of them is shown. */
export interface CheckoutFormat {
  money(amount: string, currency: string): string;
  /** An amount that is taken off. */
  less(amount: string, currency: string): string;
  number(plain: string): string;
  percent(plain: string): string;
  instant(at: string, timezone: string): string;
  period(period: NonNullable<CheckoutLine['period']>, timezone: string): string;
  /** `3 months`. */
  duration(renewal: NonNullable<CheckoutOrder['renewal']>): string;
}

const mostDecimals = 20;

/** Values as `Intl` writes them in a language, at least with the decimals that ISO 4217 gives the currency. spec: README decision 54 */
export function checkoutFormat(language: CheckoutLanguage): CheckoutFormat {
  const dates = dateLocale[language];
  const money = (amount: string, currency: string) => {
    const style = { style: 'currency', currency, minimumFractionDigits: currencyPrecision(currency) } as const;
    return exact(new Intl.NumberFormat(language, { ...style, maximumFractionDigits: mostDecimals }), amount);
  };
  const number = (plain: string) =>
    exact(new Intl.NumberFormat(language, { maximumFractionDigits: mostDecimals }), plain);
  return {
    money,
    less: (amount, currency) => money(isZero(amount) ? amount : `-${amount}`, currency),
    number,
    percent: (plain) => (language === 'en' ? `${number(plain)}%` : `${number(plain)}\u00a0%`),
    instant: (at, timeZone) =>
      new Intl.DateTimeFormat(dates, {
        ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' },
        ...{ timeZone, timeZoneName: 'short' },
      }).format(new Date(at)),
    period: ({ start, end }, timeZone) => {
      const last = Math.max(Date.parse(end) - 1, Date.parse(start));
      return new Intl.DateTimeFormat(dates, { timeZone, dateStyle: 'medium' }).formatRange(Date.parse(start), last);
    },
    duration: ({ count, unit }) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count),
  };
}

/** Format of the text itself, which is exact where a float would not be; a minus sign in place of a hyphen. */
function exact(format: Intl.NumberFormat, plain: string): string {
  return format.format(plain as Intl.StringNumericLiteral).replace('-', '\u2212');
}

function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}

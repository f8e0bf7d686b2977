import { currencyPrecision } from '../../../billing/money/money.ts';
import { writtenMoney } from '../../../billing/money/written-money.ts';
import { languages } from '../paper-texts/languages.ts';
import type { PaperTexts } from '../paper-texts/paper-texts.ts';

type PaperLanguage = keyof typeof languages;

/** Words, dates and numbers of a document in one language. */
export interface PaperWords extends PaperTexts {
  language: PaperLanguage;
  /** An amount with its currency; more digits than the currency has are kept, as those of a unit price. */
  money(amount: string, currency: string): string;
  quantity(plain: string): string;
  /** A name, number or amount inside a text, kept together where the text runs from right to left. */
  apart(text: string): string;
  day(instant: string, timezone: string): string;
  /** First and last day of a period, whose end does not belong to it; empty without one. */
  days(start: string | null | undefined, end: string | null | undefined, timezone: string): string;
}

/** Language of a document: the customer's metadata `language` (`de`, `de-AT`); one that there is not is English. */
export function paperWords(wanted: string | null | undefined): PaperWords {
  const code = (wanted ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  const language = (Object.hasOwn(languages, code) ? code : 'en') as PaperLanguage;
  const { words, locale } = languages[language];
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
  return {
    ...words,
    language,
    money: (amount, currency) => moneyIn(locale, amount, currency).replaceAll(directionMarks, ''),
    apart: (text) => (language === 'ar' ? `\u2068${text}\u2069` : text),
    quantity: (plain) => numbers.format(plain as `${number}`),
    day: (instant, timezone) =>
      new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'long' }).format(new Date(instant)),
    days(start, end, timezone) {
      if (!start || !end) return '';
      const last = new Date(Math.max(Date.parse(end) - 1, Date.parse(start)));
      return new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'medium' }).formatRange(
        new Date(start),
        last,
      );
    },
  };
}

/** Amounts are set from left to right in all languages, so that a sign stays before its number. */
const directionMarks = /[\u200e\u200f\u061c]/g;
const currencies = new Set(Intl.supportedValuesOf('currency'));

/**
 * English documents write money as all texts of the product do. Exact: a decimal text is formatted digit by digit, with the decimals that
 * ISO 4217 gives the currency, which are not those of the language's customs. spec: README decision 54
 */
function moneyIn(locale: string, amount: string, currency: string): string {
  const code = currency.toUpperCase();
  const [, fraction = ''] = amount.split('.');
  const digits = currencyPrecision(code);
  const isEnglish = locale === 'en-GB';
  if (!currencies.has(code) || (isEnglish && fraction.length <= digits)) return writtenMoney(amount, currency);
  return new Intl.NumberFormat(isEnglish ? 'en-US' : locale, {
    style: 'currency',
    currency: code,
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.max(digits, Math.min(fraction.length, 20)),
  }).format(amount as `${number}`);
}

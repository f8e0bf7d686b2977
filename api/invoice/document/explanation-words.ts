import { amountText, type ExplanationWords, wholeUnits } from '../../../billing/explanation/explanation-text.ts';
import { currencySymbol } from '../../../billing/money/money.ts';
import { groupedDigits } from '../../../billing/money/written-money.ts';

/** How a page for people writes values: thousands apart, times of the customer's zone, names that keep their own direction. */
export function pageWords(timezone: string): ExplanationWords {
  return {
    money: exactMoney,
    digits: (amount, currency) => signed(amountText(amount, currency), ''),
    quantity: (plain) => signed(plain, ''),
    instant: (at) => momentText(at, timezone),
    name: isolated,
    fraction: (part, whole) => {
      const units = wholeUnits(part, whole);
      return `${groupedDigits(String(units.part))} / ${groupedDigits(String(units.whole))}`;
    },
  };
}

/** An amount with its symbol and its digits, also those below the currency's smallest unit. */
export function exactMoney(amount: string, currency: string): string {
  const symbol = currencySymbol(currency);
  return signed(amountText(amount, currency), /[A-Za-z]$/.test(symbol) ? `${symbol} ` : symbol);
}

/** A day where it is midnight in the zone, else with the time to the second where there are seconds. */
export function momentText(at: string, timezone: string): string {
  const date = new Date(at);
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'medium' }).format(date);
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'medium' }).format(date);
  if (clock === '00:00:00') return day;
  return `${day}, ${clock.endsWith(':00') ? clock.slice(0, 5) : clock}`;
}

/** A name between marks that keep its direction from the text around it. */
export function isolated(name: string): string {
  return `\u201c\u2068${name}\u2069\u201d`;
}

/** More decimals than these are those of a quotient that does not end. */
const shownDecimals = 8;

function signed(exact: string, prefix: string): string {
  const [whole = '', decimals = ''] = exact.split('.');
  const isCut = decimals.length > 2 * shownDecimals;
  const plain = isCut ? `${whole}.${decimals.slice(0, shownDecimals)}…` : exact;
  return plain.startsWith('-') ? `\u2212${prefix}${groupedDigits(plain.slice(1))}` : `${prefix}${groupedDigits(plain)}`;
}

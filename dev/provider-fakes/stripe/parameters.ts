import { invalid } from './books.ts';

/** Parameters of a request as Stripe reads them: `a[b][0]=c` is nested. */
export type Form = { [name: string]: string | Form };

export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split('[').map((part) => part.replace(/\]$/, ''));
    let place = form;
    for (const name of names.slice(0, -1)) {
      const known = place[name];
      const below = typeof known === 'object' ? known : {};
      place[name] = below;
      place = below;
    }
    place[names.at(-1) ?? path] = value;
  }
  return form;
}

/** Refuses parameters that Stripe does not know, by their dotted names; `*` takes whatever is inside. */
export function allow(form: Form, known: readonly string[]): void {
  const check = (inner: Form, prefix: string): void => {
    for (const [name, value] of Object.entries(inner)) {
      const path = prefix + (/^\d+$/.test(name) ? '#' : name);
      if (known.includes(`${path}.*`)) continue;
      if (typeof value === 'object') check(value, `${path}.`);
      else if (!known.includes(path)) throw invalid('parameter_unknown', path);
    }
  };
  check(form, '');
}

export function text(form: Form, name: string): string | null {
  const value = form[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function required(form: Form, name: string): string {
  const value = text(form, name);
  if (value === null) throw invalid('parameter_missing', name);
  return value;
}

export function inner(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' ? value : {};
}

/** Metadata within Stripe's limits: 50 names of 40 characters with values of 500. */
export function metadataOf(form: Form): Record<string, string> {
  const entries = Object.entries(inner(form, 'metadata'));
  const isTooMuch =
    entries.length > 50 || entries.some(([name, value]) => name.length > 40 || String(value).length > 500);
  if (isTooMuch) throw invalid('parameter_invalid', 'metadata');
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

const thousandths = ['bhd', 'jod', 'kwd', 'omr', 'tnd'];
const hundredths = ['isk', 'ugx'];
const leastMinor: Record<string, number> = { usd: 50, eur: 50, gbp: 30, jpy: 50, inr: 50, mxn: 1000 };

/** A whole amount in Stripe's units, by the rules of its currencies. */
export function amountOf(form: Form, name: string, currency: string): number {
  const value = required(form, name);
  if (!/^\d{1,12}$/.test(value)) throw invalid('parameter_invalid_integer', name);
  const amount = Number(value);
  const step = thousandths.includes(currency) ? 10 : hundredths.includes(currency) ? 100 : 1;
  if (amount % step !== 0) throw invalid('invalid_charge_amount', name);
  if (amount < (leastMinor[currency] ?? 1)) throw invalid('amount_too_small', name);
  return amount;
}

export function currencyOf(form: Form): string {
  const currency = required(form, 'currency');
  if (!/^[a-z]{3}$/.test(currency)) throw invalid('parameter_invalid', 'currency');
  return currency;
}

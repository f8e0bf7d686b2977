const namesIn = (locale: string) => new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });
const countries = namesIn('en');

/** The code of a country, two letters of ISO 3166-1; empty for what is none. */
export function countryCode(text: string | null | undefined): string {
  const code = (text ?? '').trim().toUpperCase();
  return /^[A-Z]{2}$/.test(code) && countries.of(code) !== undefined ? code : '';
}

/** A country as addresses show it: by its name where a code was given, else as it was written. */
export function countryName(text: string | null | undefined, locale = 'en'): string | null {
  const code = countryCode(text);
  return (code === '' ? text : namesIn(locale).of(code)) || null;
}

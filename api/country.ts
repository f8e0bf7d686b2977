const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The code of a country, two letters of ISO 3166-1; empty for what is none. */
export function countryCode(text: string | null | undefined): string {
  const code = (text ?? '').trim().toUpperCase();
  return /^[A-Z]{2}$/.test(code) && countries.of(code) !== undefined ? code : '';
}

/** A country as addresses show it: by its name where a code was given, else as it was written. */
export function countryName(text: string | null | undefined): string | null {
  const code = countryCode(text);
  return (code === '' ? text : countries.of(code)) || null;
}

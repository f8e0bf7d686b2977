const pattern = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** What most callers send: UTC, and a day that every month has. Nothing of it needs arithmetic. */
const canonicalPattern =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,6}))?Z$/;

/**
 * An RFC 3339 instant as UTC text with six decimals, `2026-01-31T00:00:00.000000Z`: two of them compare as strings.
 * Digits beyond the microsecond are cut. Null for a text without a zone, for a date that does not exist, and for
 * instants outside the years 0001–9999. spec: catalogue-and-metering §1.2 T1
 */
export function utcInstant(text: string): string | null {
  const canonical = canonicalPattern.exec(text);
  if (canonical) return `${text.slice(0, 19)}.${(canonical[1] ?? '').padEnd(6, '0')}Z`;
  const match = pattern.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second] = match.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const leap = second === 60;
  if (hour > 23 || minute > 59 || second > 60 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offsetMinutes =
    match[8] === undefined ? 0 : Number(`${match[8]}1`) * (Number(match[9]) * 60 + Number(match[10]));
  date.setUTCHours(hour, minute - offsetMinutes, leap ? 60 : second);
  const micros = (match[7] ?? '').slice(0, 6).padEnd(6, '0');
  const whole = date.toISOString();
  return whole.length === 24 && !whole.startsWith('0000') ? `${whole.slice(0, 19)}.${micros}Z` : null;
}

/** Microseconds since 1970 of an instant in UTC with any number of decimals. */
export function microsecondsOf(instant: string): bigint {
  const fraction = /\.(\d+)Z$/.exec(instant)?.[1] ?? '';
  const seconds = BigInt(Date.parse(`${instant.slice(0, 19)}Z`) / 1000);
  return seconds * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/** UTC text with six decimals of microseconds since 1970. */
export function instantOfMicroseconds(microseconds: bigint): string {
  const micros = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = (microseconds - micros) / 1_000_000n;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
}

/** As the interface writes it: milliseconds, or microseconds where there are any. */
export function wireInstant(instant: string): string {
  return instant.endsWith('000Z') ? `${instant.slice(0, -4)}Z` : instant;
}

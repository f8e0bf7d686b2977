export const expiryUnits = ['DAY', 'WEEK', 'MONTH', 'YEAR'] as const;
export type ExpiryUnit = (typeof expiryUnits)[number];

/**
 * When credits expire that last a number of units: days of 24 hours, and months and years by the calendar in UTC, where what a
 * month does not have overflows into the next (31 January and a month is 3 March). spec: wallets-and-payments §2.15, §5 WP-080
 */
export function expiryAfter(start: string, count: number, unit: ExpiryUnit): string {
  const at = new Date(start);
  if (unit === 'DAY') at.setUTCDate(at.getUTCDate() + count);
  if (unit === 'WEEK') at.setUTCDate(at.getUTCDate() + 7 * count);
  if (unit === 'MONTH') at.setUTCMonth(at.getUTCMonth() + count);
  if (unit === 'YEAR') at.setUTCFullYear(at.getUTCFullYear() + count);
  return at.toISOString();
}

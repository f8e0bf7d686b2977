import { expect, it } from 'vitest';
import { bucketStarts } from '../../../../billing/commitment/commitment-grid.ts';
import { windowSizes } from '../../../../billing/time/window.ts';

const year = { start: '2024-01-01T00:00:00.000Z', end: '2025-01-01T00:00:00.000Z' };
const startsOf = (size: string) => [...bucketStarts(year, { size, timezone: 'UTC', billingAnchor: year.start })].length;

it.each([
  ['HOUR', 8784],
  ['3HOUR', 2928],
  ['6HOUR', 1464],
  ['12HOUR', 732],
  ['DAY', 366],
  ['WEEK', 53],
  ['MONTH', 12],
])('an annual period has windows of %s for a commitment, as many as a leap year has', (size, count) => {
  expect(startsOf(size)).toBe(count);
});

it('a commitment can be in windows of any size a meter has', () => {
  for (const size of windowSizes) expect(startsOf(size), size).toBeGreaterThan(0);
});

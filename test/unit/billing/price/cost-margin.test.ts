import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../../../billing/money/money.ts';
import { costMargin } from '../../../../billing/price/cost-margin.ts';
import { type CostPrice, costPriceParts } from '../../../../billing/price/cost-price.ts';

test.each([
  ['250', '100', { margin: '150', marginPercent: '60', roi: '1.5', roiPercent: '150' }],
  ['0', '40', { margin: '-40', marginPercent: '0', roi: '-1', roiPercent: '-100' }],
  ['40', '0', { margin: '40', marginPercent: '100', roi: '0', roiPercent: '0' }],
  ['0', '0', { margin: '0', marginPercent: '0', roi: '0', roiPercent: '0' }],
  // A percentage is rounded by itself, not made of the rounded ratio.
  ['1', '3', { margin: '-2', marginPercent: '-200', roi: '-0.666666666666667', roiPercent: '-66.666666666666667' }],
])('revenue %s against cost %s', (revenue, cost, figures) => expect(costMargin({ revenue, cost })).toEqual(figures));

test('each figure is the exact one within half of its last digit', () => {
  const amount = fc
    .tuple(fc.nat(), fc.nat(999_999))
    .map(([whole, part]) => `${whole}.${String(part).padStart(6, '0')}`);
  const within = (figure: string, exact: { minus(of: string): { abs(): { lte(bound: string): boolean } } }) =>
    exact.minus(figure).abs().lte('0.0000000000000005');
  fc.assert(
    fc.property(amount, amount, (revenue, cost) => {
      const figures = costMargin({ revenue, cost });
      const margin = decimal(revenue).minus(cost);
      expect(decimal(figures.margin).equals(margin)).toBe(true);
      if (!decimal(revenue).isZero()) {
        expect(within(figures.marginPercent, margin.times(100).dividedBy(revenue))).toBe(true);
      }
      if (decimal(cost).isZero()) return;
      expect(within(figures.roi, margin.dividedBy(cost))).toBe(true);
      expect(within(figures.roiPercent, margin.times(100).dividedBy(cost))).toBe(true);
    }),
  );
});

const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
const price = (id: string, start: number, end: number | null, fields: Partial<CostPrice> = {}): CostPrice => ({
  id,
  meterId: 'm',
  filterValues: null,
  startDate: day(start),
  endDate: end === null ? null : day(end),
  createdAt: day(start),
  ...fields,
});
const january = { start: day(1), end: day(31) };
const parts = (prices: CostPrice[]) =>
  costPriceParts(prices, january).map(({ price: { id }, part }) => [id, part.start, part.end]);

test('the first price of a meter prices what was used before it, and its successors the rest', () => {
  expect(parts([price('a', 10, 20), price('b', 20, null)])).toEqual([
    ['a', day(1), day(20)],
    ['b', day(20), day(31)],
  ]);
});

test('prices of one meter with other filters, and of other meters, each have a first one', () => {
  const eu = { filterValues: { region: ['eu'] } };
  expect(parts([price('a', 10, null), price('b', 11, null, eu), price('c', 12, null, { meterId: 'n' })])).toEqual([
    ['a', day(1), day(31)],
    ['b', day(1), day(31)],
    ['c', day(1), day(31)],
  ]);
});

test('a price that was made to start later starts then, and one that ended before prices nothing', () => {
  expect(parts([price('a', 10, null, { createdAt: day(5) })])).toEqual([['a', day(10), day(31)]]);
  expect(parts([{ ...price('a', 1, null), startDate: day(1), endDate: day(1) }])).toEqual([]);
});

test('prices of one meter never price the same instant twice when each ends where the next begins', () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 2, max: 30 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(cuts, (days) => {
      const ordered = [1, ...days.sort((a, b) => a - b)];
      const chain = ordered.map((start, index) => price(`p${index}`, start, ordered[index + 1] ?? null));
      const covered = costPriceParts(chain, january).map(({ part }) => part);
      expect(covered[0]?.start).toBe(january.start);
      expect(covered.at(-1)?.end).toBe(january.end);
      for (const [index, part] of covered.entries()) if (index > 0) expect(part.start).toBe(covered[index - 1]?.end);
    }),
  );
});

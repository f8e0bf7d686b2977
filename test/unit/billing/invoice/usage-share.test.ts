import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageShares } from '../../../../billing/invoice/usage-share.ts';
import { decimal, sum } from '../../../../billing/money/money.ts';

const parts = (...usages: string[]) => usages.map((usage) => ({ usage, eventCount: 1 }));
const costs = (usages: string[], amount: string, currency = 'usd') =>
  usageShares(parts(...usages), amount, currency).map(({ cost }) => cost);

describe('the shares of a line', () => {
  it('are its amount in proportion to usage, with percentages of two decimals', () => {
    expect(usageShares(parts('30', '10'), '8', 'usd')).toEqual([
      { usage: '30', eventCount: 1, percentage: '75', cost: '6' },
      { usage: '10', eventCount: 1, percentage: '25', cost: '2' },
    ]);
    expect(usageShares(parts('1', '2'), '9', 'usd').map(({ percentage }) => percentage)).toEqual(['33.33', '66.67']);
  });

  it.each<[string, string[], string, string, string[]]>([
    ['the largest remainder gets the cent that is left', ['1', '1', '1'], '0.10', 'usd', ['0.04', '0.03', '0.03']],
    ['a currency without cents is not cut into them', ['1', '1'], '3', 'jpy', ['2', '1']],
    ['a credit is taken apart too', ['1', '2'], '-0.10', 'usd', ['-0.03', '-0.07']],
    ['usage below zero has no share', ['-5', '5'], '1', 'usd', ['0', '1']],
    ['without usage nothing has a share', ['0'], '10', 'usd', ['0']],
  ])('%s', (_rule, usages, amount, currency, expected) => {
    expect(costs(usages, amount, currency)).toEqual(expected);
  });

  it('add up to the amount, whatever was used', () => {
    const usages = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(usages, fc.integer({ min: -1_000_000, max: 1_000_000 }), (used, cents) => {
        fc.pre(used.some((usage) => usage > 0));
        const amount = decimal(cents).dividedBy(100).toFixed();
        const total = sum(costs(used.map(String), amount).map((cost) => decimal(cost)));
        expect(total.toFixed()).toBe(amount);
      }),
    );
  });
});

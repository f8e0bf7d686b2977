import { describe, expect, it } from 'vitest';
import { copiedLinks, type TaxLink, taxesInForce, taxTotals } from '../../../../billing/invoice/tax.ts';

const march = '2026-03-01T00:00:00.000Z';

function link(id: string, members: Partial<TaxLink> = {}): TaxLink {
  return {
    associationId: `ta_${id}`,
    rateId: `taxrate_${id}`,
    percentage: '10',
    taxBehavior: 'exclusive',
    currency: '',
    autoApply: true,
    start: '2026-01-01T00:00:00.000Z',
    end: null,
    priority: 100,
    createdAt: '2026-01-01T00:00:00.000Z',
    rateStatus: 'ACTIVE',
    scope: 'INTERNAL',
    ...members,
  };
}

const inForce = (links: TaxLink[]) =>
  taxesInForce(links, { currency: 'usd', periodEnd: march }).map(({ associationId }) => associationId);

describe('the taxes of a subscription invoice (subscriptions-and-invoicing §2.18.1)', () => {
  it('are those in force at the end of its period: from the start on, before the end', () => {
    expect(inForce([link('a', { start: march })])).toEqual(['ta_a']);
    expect(inForce([link('a', { start: '2026-03-01T00:00:00.001Z' })])).toEqual([]);
    expect(inForce([link('a', { end: '2026-03-01T00:00:00.001Z' })])).toEqual(['ta_a']);
    expect(inForce([link('a', { end: march })])).toEqual([]);
  });

  it.each<[string, Partial<TaxLink>]>([
    ['is not applied by itself', { autoApply: false }],
    ['has an INACTIVE rate', { rateStatus: 'INACTIVE' }],
    ['is informational', { scope: 'EXTERNAL' }],
    ['is for one-off invoices', { scope: 'ONETIME' }],
    ['is of another currency', { currency: 'eur' }],
  ])('leave out a link that %s', (_what, members) => {
    expect(inForce([link('a', members), link('b', { currency: 'usd' })])).toEqual(['ta_b']);
  });

  it('come by priority, then by age', () => {
    const links = [
      link('a', { priority: 100 }),
      link('b', { priority: 20, createdAt: '2026-01-02T00:00:00.000Z' }),
      link('c', { priority: 20 }),
      link('d', { priority: 3 }),
    ];
    expect(inForce(links)).toEqual(['ta_d', 'ta_c', 'ta_b', 'ta_a']);
  });

  it('charge a rate once, however often it is linked', () => {
    const twice = [link('a', { rateId: 'r' }), link('b', { rateId: 'r', currency: 'usd', priority: 1 })];
    expect(inForce(twice)).toEqual(['ta_b']);
  });
});

describe('copies of links (subscriptions-and-invoicing §2.18.1)', () => {
  const now = '2026-02-01T00:00:00.000Z';
  const copied = (members: Partial<TaxLink>, start: string) =>
    copiedLinks([link('a', members)], { now, start }).map((copy) => [copy.start, copy.end]);

  it('hold from the start of the new entity where the source is in force, even when that start is past', () => {
    expect(copied({}, '2025-06-01T00:00:00.000Z')).toEqual([['2025-06-01T00:00:00.000Z', null]]);
    expect(copied({}, march)).toEqual([[march, null]]);
  });

  it('begin when the source begins where that is yet to come', () => {
    expect(copied({ start: march }, now)).toEqual([[march, null]]);
  });

  it('leave out what has ended, ends before the new entity starts, or is not applied by itself', () => {
    expect(copied({ end: now }, now)).toEqual([]);
    expect(copied({ end: march }, march)).toEqual([]);
    expect(copied({ autoApply: false }, now)).toEqual([]);
    expect(copied({ end: march }, now)).toEqual([[now, march]]);
  });
});

it('adds up tax rows by behaviour, exactly', () => {
  const rows = [
    { taxBehavior: 'inclusive', taxAmount: '0.1' },
    { taxBehavior: 'inclusive', taxAmount: '0.2' },
    { taxBehavior: 'exclusive', taxAmount: '5.78' },
  ];
  expect(taxTotals(rows)).toEqual({ inclusive: '0.3', exclusive: '5.78' });
  expect(taxTotals([])).toEqual({ inclusive: '0', exclusive: '0' });
});

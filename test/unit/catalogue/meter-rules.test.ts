import { describe, expect, it } from 'vitest';
import { refusalIn } from '../../../billing/refusal.ts';
import type { MeterAggregation } from '../../../db/entities/catalogue/meter.ts';
import { checkMeter, unitedFilters } from '../../../services/catalogue/meter-rules.ts';

const none = { field: null, expression: null, multiplier: null, bucket_size: null, group_by: null };

function fieldRefused(aggregation: Partial<MeterAggregation> & { type: string }): string | null {
  try {
    checkMeter({
      name: 'm',
      eventName: 'e',
      aggregation: { ...none, ...aggregation },
      filters: [],
      resetUsage: 'NEVER',
    });
  } catch (error) {
    return Object.keys((refusalIn(error)?.details?.fields as object) ?? {})[0] ?? 'unnamed';
  }
  return null;
}

describe('checkMeter', () => {
  it.each<[Partial<MeterAggregation> & { type: string }, string | null]>([
    [{ type: 'COUNT' }, null],
    [{ type: 'SUM', field: 'n' }, null],
    [{ type: 'SUM' }, 'aggregation.field'],
    [{ type: 'LATEST', expression: 'a * 2' }, null],
    [{ type: 'COUNT_UNIQUE', expression: 'a' }, 'aggregation.expression'],
    [{ type: 'SUM', field: 'n', expression: 'a' }, 'aggregation.expression'],
    [{ type: 'SUM_WITH_MULTIPLIER', field: 'n' }, 'aggregation.multiplier'],
    [{ type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0.5' }, null],
    [{ type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '-1' }, 'aggregation.multiplier'],
    [{ type: 'SUM', expression: 'a', multiplier: '2' }, null],
    [{ type: 'AVG', field: 'n', multiplier: '2' }, 'aggregation.multiplier'],
    [{ type: 'SUM', field: 'n', bucket_size: 'HOUR' }, null],
    [{ type: 'AVG', field: 'n', bucket_size: 'HOUR' }, 'aggregation.bucket_size'],
    [{ type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'k' }, null],
    [{ type: 'SUM', field: 'n', bucket_size: 'HOUR', group_by: 'k' }, 'aggregation.group_by'],
    [{ type: 'MAX', field: 'n', group_by: 'k' }, 'aggregation.group_by'],
  ])('judges %j', (aggregation, field) => {
    expect(fieldRefused(aggregation)).toBe(field);
  });
});

it('unites filters without repeating or removing a value', () => {
  const stored = [{ key: 'a', values: ['1', '2'] }];
  expect(
    unitedFilters(stored, [
      { key: 'b', values: ['x', 'x'] },
      { key: 'a', values: ['2', '3'] },
    ]),
  ).toEqual([
    { key: 'a', values: ['1', '2', '3'] },
    { key: 'b', values: ['x'] },
  ]);
  expect(stored).toEqual([{ key: 'a', values: ['1', '2'] }]);
});

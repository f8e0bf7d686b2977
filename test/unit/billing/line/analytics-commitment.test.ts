import { expect, it } from 'vitest';
import { type CommittedLine, committedAnalytics } from '../../../../billing/line/analytics-commitment.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';

const price: PriceTerms = {
  billing_model: 'FLAT_FEE',
  currency: 'usd',
  amount: '2',
  tier_mode: null,
  tiers: null,
  transform_quantity: null,
  percentage_rate: null,
};
const hourly = { size: 'HOUR', timezone: 'UTC', billingAnchor: '2026-01-01T00:00:00.000Z' };

function line(commitment: Partial<CommittedLine['commitment']>, terms: Partial<CommittedLine> = {}): CommittedLine {
  return {
    price,
    commitment: {
      type: 'amount',
      value: '10',
      overageFactor: '3',
      trueUp: true,
      duration: null,
      windowed: false,
      timeBuckets: [],
      ...commitment,
    },
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    timezone: 'UTC',
    currency: 'usd',
    bucketing: null,
    interval: { start: '2026-01-15T00:00:00.000Z', end: '2026-02-15T00:00:00.000Z' },
    now: '2026-03-01T00:00:00.000Z',
    ...terms,
  };
}
const used = (usage: string) => ({ usage, buckets: null });
const january = { start: '2026-01-01T00:00:00.000Z', end: '2026-01-31T00:00:00.000Z' };

it.each<[string, CommittedLine, string, string]>([
  ['what is missing of a period that is over counts', line({}), '3', '10'],
  ['what is above counts times the factor', line({}), '7', '22'],
  ['a quantity commits to what it costs', line({ type: 'quantity', value: '4' }), '3', '8'],
  ['an interval shorter than the period is not topped up', line({}, { interval: january }), '3', '6'],
  ['a period under way is not topped up', line({}, { now: '2026-02-14T00:00:00.000Z' }), '3', '6'],
  ['a longer commitment is topped up in as long a time only', line({ duration: 'QUARTERLY' }), '3', '6'],
])('%s', (_rule, committed, usage, cost) => {
  expect(committedAnalytics(committed, used(usage), [used(usage)])).toMatchObject({ cost, points: null });
});

it('judges each bucket alone, and tops up those without usage until the present', () => {
  const buckets = [
    { start: '2026-01-15T01:00:00.000Z', value: '2' },
    { start: '2026-01-15T01:00:00.000Z', value: '4' },
  ];
  const windowed = line({ windowed: true }, { bucketing: hourly, now: '2026-01-15T04:00:00.000Z' });
  const found = committedAnalytics(windowed, { usage: '6', buckets }, [{ usage: '6', buckets }]);
  // 12 of 10: 2 above × 3; three more hours of 10.
  expect(found).toMatchObject({
    cost: '46',
    points: [{ cost: '16', utilized: '10', overage: '6', trueUp: '0', bucketIds: [null] }],
    info: { computed_true_up_amount: '30.00', is_windowed: true },
    timeBuckets: [],
  });
});

it('refuses to fill in more than 100 000 buckets', () => {
  const minutes = { ...hourly, size: 'MINUTE' };
  const interval = { start: '2025-01-01T00:00:00.000Z', end: '2025-12-31T00:00:00.000Z' };
  const endless = line({ windowed: true }, { bucketing: minutes, interval });
  expect(() => committedAnalytics(endless, { usage: '0', buckets: [] }, [])).toThrow('start_time');
});

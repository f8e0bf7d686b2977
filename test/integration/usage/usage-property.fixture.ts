import fc from 'fast-check';
import { aggregationTypes } from '../../../metering/meter.ts';
import { fraction, parsed } from '../../support/fraction.ts';
import { knownExpression } from '../../support/oracles/expression-oracle.ts';
import type { KnownMeasure, KnownValue } from '../../support/oracles/usage-oracle.ts';

export const hourMs = 3_600_000;
export const sizes = ['MINUTE', '15MIN', '30MIN', 'HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'];

/** Where clocks change, or lie on the half or quarter of an hour; streams are about the change. */
const places = [
  { timezone: 'UTC', around: '2026-02-28T12:00:00Z' },
  { timezone: 'Europe/Berlin', around: '2026-03-28T12:00:00Z' },
  { timezone: 'Europe/Berlin', around: '2026-10-24T12:00:00Z' },
  { timezone: 'America/New_York', around: '2026-03-07T20:00:00Z' },
  { timezone: 'Asia/Kolkata', around: '2026-02-28T00:00:00Z' },
  { timezone: 'Asia/Kathmandu', around: '2026-04-29T00:00:00Z' },
  { timezone: 'Australia/Lord_Howe', around: '2026-04-04T03:00:00Z' },
  { timezone: 'Australia/Lord_Howe', around: '2026-10-03T06:00:00Z' },
];

const text = (json: string, of: string | null): KnownValue => ({ json, number: null, text: of });
const number = (json: string, plain: string, of = plain): KnownValue => ({
  json,
  number: parsed(plain),
  text: of,
});

const values: KnownValue[] = [
  ...['0', '1', '-4', '2.5', '1000000', '-0.125', '7'].map((plain) => number(plain, plain)),
  ...['1', '12.75', '-3'].map((plain) => number(`"${plain}"`, plain)),
  number('1.0', '1'),
  number('"1.0"', '1', '1.0'),
  number('1e2', '100'),
  number('"1e2"', '100', '1e2'),
  number('"+7"', '7', '+7'),
  number('".5"', '0.5', '.5'),
  number('0.0000000000000005', '0.0000000000000005'),
  number('123456789012345678.123456789012345', '123456789012345678.123456789012345'),
  { json: '1e30', number: fraction(10n ** 30n), text: `1${'0'.repeat(30)}` },
  text('"abc"', 'abc'),
  text('""', ''),
  text('"é"', 'é'),
  text('true', 'true'),
  text('null', null),
  text('{}', null),
];
const simple = values.filter(({ json }) => !['0.0000000000000005', '1e30'].includes(json));
const kinds = [text('"us"', 'us'), text('"eu"', 'eu'), number('1', '1'), number('1.0', '1'), text('null', null)];

const offsetMs = fc.oneof(
  // Often at the edge of an hour or a quarter of one, sometimes weeks away.
  fc.integer({ min: -24, max: 36 }).map((hours) => hours * hourMs),
  fc.integer({ min: -96, max: 144 }).map((quarters) => quarters * (hourMs / 4)),
  fc.integer({ min: -24 * hourMs, max: 36 * hourMs }),
  fc.integer({ min: -24 * hourMs, max: 36 * hourMs }),
  fc.integer({ min: -40 * 24 * 60, max: 40 * 24 * 60 }).map((minutes) => minutes * 60_000),
);

const eventOf = fc.record({
  id: fc.integer({ min: 0, max: 30 }),
  customer: fc.constantFrom('a', 'b'),
  offsetMs,
  n: fc.option(fc.constantFrom(...values), { nil: undefined }),
  m: fc.option(fc.constantFrom(...simple), { nil: undefined }),
  region: fc.option(fc.constantFrom(...kinds), { nil: undefined }),
});

const interval = fc.tuple(offsetMs, offsetMs).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

const plain = { field: 'n', expression: null, multiplier: null, bucketSize: null, groupBy: null };

/** A meter of every kind: each type, each type of expression, sums and greatest values by buckets and groups. */
const measures = fc
  .record({
    filters: fc.constantFrom([], [{ key: 'region', values: ['us', '1'] }]),
    expressions: fc.tuple(knownExpression, knownExpression, knownExpression, knownExpression),
    multiplier: fc.constantFrom(null, '2', '0.001'),
    sizes: fc.shuffledSubarray(sizes, { minLength: 4, maxLength: 4 }),
  })
  .map(({ filters, expressions, multiplier, sizes: [first = '', second = '', third = '', fourth = ''] }) => {
    const whole = aggregationTypes.map((type) => ({
      ...plain,
      type,
      field: type === 'COUNT' ? null : 'n',
      multiplier: type === 'SUM_WITH_MULTIPLIER' ? '0.001' : null,
    }));
    const computed = ['SUM', 'AVG', 'MAX', 'LATEST'].map((type, index) => {
      const expression = expressions[index] ?? null;
      return { ...plain, type, field: null, expression, multiplier };
    });
    const bucketed = [
      { ...plain, type: 'SUM', bucketSize: first },
      { ...plain, type: 'MAX', bucketSize: second },
      { ...plain, type: 'MAX', bucketSize: third, groupBy: 'region' },
      { ...plain, type: 'SUM', bucketSize: fourth, field: null, expression: expressions[0] ?? null, multiplier },
    ];
    return [...whole, ...computed, ...bucketed].map((measure): KnownMeasure => ({ ...measure, filters }));
  });

/** A stream of events in batches, meters of every kind, and what is asked of them. */
export const scenario = fc.record({
  place: fc.constantFrom(...places),
  batches: fc.array(fc.array(eventOf, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 }),
  intervals: fc.array(interval, { minLength: 2, maxLength: 2 }),
  measures,
  anchorDay: fc.constantFrom(null, 1, 15, 29, 31),
  override: fc.constantFrom(...sizes),
  windowSize: fc.constantFrom('15MIN', 'HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'),
  /** Whether a fed engine was given the last batch, or counts it as not fed yet. */
  isSettled: fc.boolean(),
});
export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

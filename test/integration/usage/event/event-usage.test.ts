import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../../api/plugins/json-body.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { type EventCopy, evaluateUsage } from '../../../../metering/evaluate.ts';
import { prepareEvent } from '../../../../metering/event.ts';
import { aggregationTypes } from '../../../../metering/meter.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../../support/database.ts';
import { append, january, newMeter, usageOf } from '../../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const hourMs = 3_600_000;
const start = Date.parse('2026-03-28T22:00:00Z');

/** JSON texts of values that coercion and text forms must get right. */
const valueText = fc.oneof(
  fc.constantFrom(
    ...['0', '-0', '1', '1.0', '1.50', '1e2', '2E-3', '1e-16', '5e-16', '-5e-16', '0.0000000000000005', '1e29', '1e30'],
    ...['9.99999999999999999e29', '-1e30', '1e400', '1e9999', '0e9999', 'true', 'false', 'null', '{}', '[]', '""'],
    ...[
      '" 1"',
      '"1 "',
      '"1."',
      '".5"',
      '"."',
      '"+7"',
      '"--7"',
      '"1e2"',
      '"1.0"',
      '"NaN"',
      '"Infinity"',
      '"١"',
      '"0x10"',
    ],
    ...['123456789012345678.1234567890123456', '"123456789012345678.123456789012345"', '"é"', '"\\u0001"', '"1e99999"'],
  ),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => String(n)),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => `"${n / 1000}"`),
);

const event = fc.record({
  id: fc.integer({ min: 0, max: 40 }).map((n) => `e${n}`),
  customer: fc.constantFrom('a', 'b'),
  // Within three days around the night when clocks change in Europe, often at the edge of an hour or a day.
  at: fc.oneof(
    fc.integer({ min: 0, max: 72 }).map((hours) => start + hours * hourMs),
    fc.integer({ min: 0, max: 72 * hourMs - 1 }).map((ms) => start + ms),
  ),
  value: fc.option(valueText, { nil: undefined }),
  region: fc.option(fc.constantFrom('"us"', '"eu"', '1', '1.0', '"1.0"', 'null'), { nil: undefined }),
});

const interval = fc
  .tuple(fc.integer({ min: 0, max: 72 * 60 }), fc.integer({ min: 0, max: 72 * 60 }))
  .map(([a, b]) => ({ from: minute(Math.min(a, b)), to: minute(Math.max(a, b)) }));

function minute(n: number): string {
  return new Date(start + n * 60_000).toISOString();
}

test('every aggregation equals its definition, whatever the batches, duplicates and edges', {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(
    fc.array(fc.array(event, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 4 }),
    fc.array(interval, { minLength: 1, maxLength: 4 }),
    fc.boolean(),
    async (batches, intervals, filtered) => {
      const run = randomUUID();
      const filters = filtered ? [{ key: 'region', values: ['us', '1'] }] : [];
      const aggregations = aggregationTypes.map((type) => ({
        type,
        field: type === 'COUNT' ? null : 'n',
        multiplier: type === 'SUM_WITH_MULTIPLIER' ? '0.001' : null,
      }));
      // Half of the meters exist before the events, half are built from them afterwards.
      const make = (part: number) =>
        Promise.all(
          aggregations
            .filter((_, index) => index % 2 === part)
            .map(async (aggregation) => ({
              aggregation,
              meter: await newMeter(database, scope, aggregation, { eventName: run, filters }),
            })),
        );
      const before = await make(0);
      const copies: (EventCopy & { customer: string })[] = [];
      for (const [round, batch] of batches.entries()) {
        const wire = batch.map((each) => ({
          event_name: run,
          external_customer_id: `${run}-${each.customer}`,
          event_id: `${run}-${each.id}`,
          timestamp: new Date(each.at).toISOString(),
          properties: parseJson(propertiesText(each)) as Record<string, unknown>,
        }));
        await store.append(
          scope,
          wire.map((each) => prepareEvent(each)),
        );
        copies.push(
          ...wire.map((each, index) => ({
            id: each.event_id,
            timestamp: each.timestamp,
            ingestedAt: new Date(start + round * 1000 + index).toISOString(),
            properties: each.properties,
            customer: each.external_customer_id,
          })),
        );
      }
      const meters = [...before, ...(await make(1))];
      const questions = meters.flatMap(({ meter, aggregation }) =>
        intervals.flatMap((between, index) =>
          [[`${run}-a`], [`${run}-a`, `${run}-b`]].map((externalCustomerIds) => ({
            key: `${meter.id} ${index} ${externalCustomerIds.length}`,
            meterId: meter.id,
            externalCustomerIds,
            ...between,
            aggregation,
          })),
        ),
      );
      const answers = await inSqlTransaction(database, scope, (tx) => store.usage(tx, scope, questions));
      const expected = questions.map((question) => {
        const own = effectiveOf(copies).filter((copy) => question.externalCustomerIds.includes(copy.customer));
        return { type: question.aggregation.type, ...question, ...evaluateUsage(own, { ...question, filters }) };
      });
      for (const each of expected) {
        const answer = answers.get(each.key);
        expect({ type: each.type, value: answer?.value, eventCount: answer?.eventCount }).toEqual({
          type: each.type,
          value: each.value,
          eventCount: each.eventCount,
        });
      }
      // The same questions with a filter of their own go past the roll-ups, and the roll-ups equal a recomputation.
      const raw = await inSqlTransaction(database, scope, (tx) =>
        store.usage(
          tx,
          scope,
          questions.map((question) => ({ ...question, filters: { region: ['us', '1'] } })),
        ),
      );
      if (filtered) for (const [key, answer] of raw) expect(answer.value).toBe(answers.get(key)?.value);
      expect(await inSqlTransaction(database, scope, (tx) => store.verify(tx, scope))).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: 25 });
});

/** An id belongs to whoever sent it first, also when another customer repeats it. */
function effectiveOf<T extends { id: string }>(copies: readonly T[]): T[] {
  const met = new Set<string>();
  return copies.filter((copy) => met.size !== met.add(copy.id).size);
}

function propertiesText(each: { value: string | undefined; region: string | undefined }): string {
  const members = [
    ...(each.value === undefined ? [] : [`"n":${each.value}`]),
    ...(each.region === undefined ? [] : [`"region":${each.region}`]),
  ];
  return `{${members.join(',')}}`;
}

test('an event at the end of a period belongs to the next one', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' });
  await append(store, scope, [
    { timestamp: '2026-01-01T00:00:00Z' },
    { timestamp: '2026-01-31T23:59:59.999999Z' },
    { timestamp: '2026-02-01T00:00:00Z' },
    { timestamp: '2026-02-01T01:00:00+02:00' },
  ]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('3');
});

test('of events at one instant the latest is the one ingested last', async () => {
  const meter = await newMeter(database, scope, { type: 'LATEST', field: 'n' }, { eventName: 'gauge' });
  const gauge = (n: number) => ({ event_name: 'gauge', timestamp: '2026-01-10T12:00:00Z', properties: { n } });
  await append(store, scope, [gauge(5), gauge(7)]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('7');
  await append(store, scope, [gauge(3)]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('3');
  await append(store, scope, [{ ...gauge(9), timestamp: '2026-01-10T11:59:59Z' }]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('3');
});

test('an unknown meter is refused, and an unknown customer has used nothing', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' });
  expect(await usageOf(database, store, scope, { meterId: meter.id, externalCustomerIds: ['nobody'] })).toBe('0');
  await expect(usageOf(database, store, scope, { meterId: 'meter_none' })).rejects.toThrow('meter_none does not exist');
});

test('a meter that never resets counts from the start of its history', async () => {
  const meter = await newMeter(
    database,
    scope,
    { type: 'SUM', field: 'n' },
    { eventName: 'seat', resetUsage: 'NEVER' },
  );
  await append(store, scope, [
    { event_name: 'seat', timestamp: '2025-12-10T00:00:00Z', properties: { n: 5 } },
    { event_name: 'seat', timestamp: '2026-01-10T00:00:00Z', properties: { n: 2 } },
  ]);
  const question = { meterId: meter.id, startOfHistory: '2025-12-01T00:00:00.000Z' };
  expect(await usageOf(database, store, scope, question)).toBe('7');
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2');
});

test('a question at an earlier watermark knows what was known then', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'late' });
  const late = (n: number) => ({ event_name: 'late', timestamp: '2026-01-10T00:00:00Z', properties: { n } });
  await append(store, scope, [late(1), late(2)]);
  const question = { key: 'q', meterId: meter.id, externalCustomerIds: ['acme'], ...january };
  const ask = (watermark?: string) =>
    inSqlTransaction(database, scope, (tx) =>
      store.usage(tx, scope, [{ ...question, ...(watermark ? { watermark } : {}) }]),
    );
  // A writer is under way while the question is asked: its event is not known, whatever its number in the sequence.
  const first = await inSqlTransaction(database, scope, async (writing) => {
    await writing.rows('select pg_current_xact_id()');
    const answer = (await ask()).get('q');
    await append(store, scope, [late(4)]);
    return answer;
  });
  expect(first?.value).toBe('3');
  expect((await ask()).get('q')?.value).toBe('7');
  expect((await ask(first?.watermark)).get('q')).toMatchObject({ value: '3', eventCount: 2 });
});

test('another environment sees none of it', async () => {
  const foreign = { ...scope, environmentId: 'env_other' };
  await expect(inSqlTransaction(database, foreign, (tx) => store.event(tx, foreign, 'any'))).rejects.toThrow(
    'no environment',
  );
  const seen = await inSqlTransaction(database, { ...foreign, tenantId: 'tenant_other' }, (tx) =>
    tx.rows('select count(*)::int as count from usage.event'),
  );
  expect(seen).toEqual([{ count: 0 }]);
});

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { aggregationTypes } from '../../../metering/meter.ts';
import type { UsageStore } from '../../../metering/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { eventListener } from '../../support/event-listener.ts';
import { append, newCustomer, newMeter } from '../../support/metering.ts';
import { openEngine, usageEngines } from '../../support/usage-engines.ts';

const { database, scope } = await testDatabase();
const engines = await Promise.all(usageEngines.map((engine) => openEngine(engine, database)));
const [{ store }] = engines as [(typeof engines)[number]];

const origin = Date.parse('2026-03-28T00:00:00Z');
/** Quarters of an hour over two days, across a change of the clock in Berlin. */
const quarter = fc.integer({ min: 0, max: 192 });
const instantOf = (quarters: number) => new Date(origin + quarters * 900_000).toISOString();
const [parent, ...children] = await Promise.all(
  ['parent', 'first', 'second'].map((id) => newCustomer(database, scope, id)),
);

const scenario = fc.record({
  events: fc.array(
    fc.record({
      external_customer_id: fc.constantFrom('parent', 'first', 'second'),
      at: quarter,
      n: fc.constantFrom(1, '2.50', -3, 'none', 0.000001),
      g: fc.constantFrom('a', 'b'),
    }),
    { minLength: 4, maxLength: 30 },
  ),
  /** Times in which each child counts: none, one, or two with a gap. */
  times: fc.tuple(...children.map(() => fc.uniqueArray(quarter, { minLength: 0, maxLength: 4 }))),
  isOpen: fc.boolean(),
  interval: fc.tuple(quarter, quarter),
  isFiltered: fc.boolean(),
});

/** Two ends of one child make a time; a last one that is alone is open when `isOpen`, and not there otherwise. */
function inheritedOf(times: readonly (readonly number[])[], isOpen: boolean) {
  return times.flatMap((ends, child) => {
    const sorted = ends.toSorted((a, b) => a - b);
    return sorted.flatMap((end, index) => {
      if (index % 2 === 1) return [];
      const until = sorted[index + 1];
      if (until === undefined && !isOpen) return [];
      return [
        { customerId: children[child]!, from: instantOf(end), to: until === undefined ? null : instantOf(until) },
      ];
    });
  });
}

test('whatever is inherited from when until when, both engines say the same in every form', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ events, times, isOpen, interval, isFiltered }) => {
      const eventName = randomUUID();
      const half = Math.floor(events.length / 2);
      const send = (some: typeof events) => {
        const wire = some.map(({ at, n, g, ...event }) => ({
          ...event,
          timestamp: instantOf(at),
          properties: { n, g },
        }));
        return append(
          store,
          scope,
          wire.map((event) => ({ ...event, event_name: eventName })),
        );
      };
      const meters = await Promise.all([
        ...aggregationTypes.map((type) => {
          const multiplier = type === 'SUM_WITH_MULTIPLIER' ? '0.5' : null;
          return newMeter(database, scope, { type, field: type === 'COUNT' ? null : 'n', multiplier }, { eventName });
        }),
        newMeter(database, scope, { type: 'SUM', field: 'n', bucket_size: '12HOUR' }, { eventName }),
        newMeter(database, scope, { type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'g' }, { eventName }),
        newMeter(database, scope, { type: 'SUM', expression: 'n * 3' }, { eventName }),
      ]);
      await send(events.slice(0, half));
      for (const { settle } of engines) await settle();
      await send(events.slice(half));
      const [from, to] = interval.toSorted((a, b) => a - b).map(instantOf) as [string, string];
      const inherited = inheritedOf(times, isOpen);
      const about = { customerIds: [parent!], inherited, from, to, ...(isFiltered ? { filters: { g: ['a'] } } : {}) };
      const timezone = 'Europe/Berlin';
      const questions = meters.map(({ id }) => ({ key: id, meterId: id, ...about, timezone }));
      const answersOf = (asked: UsageStore) =>
        inSqlTransaction(database, scope, async (tx) => {
          const usage = await asked.usage(tx, scope, questions);
          const listeners = new Map(questions.map(({ key }) => [key, eventListener()]));
          const telling = questions.map((question) => ({ ...question, begin: listeners.get(question.key)!.begin }));
          await asked.eachEvent(tx, scope, telling);
          const points = [];
          for (const question of [questions[1]!, questions[8]!]) {
            const windows = { windowSize: 'DAY', timezone, billingAnchor: null };
            points.push((await asked.series(tx, scope, question, windows)).points);
          }
          const known = ({ watermark: _, ...answer }: { watermark: string }) => answer;
          const found = questions.map(({ key }) => [known(usage.get(key)!), listeners.get(key)!.told]);
          return { found, points };
        });
      const known = await answersOf(engines[0]!.store);
      expect(await answersOf(engines[1]!.store)).toEqual(known);
      for (const { settle } of engines) await settle();
      expect(await answersOf(engines[1]!.store)).toEqual(known);
    }),
    { numRuns: 6 },
  );
});

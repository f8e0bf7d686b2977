import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { poll } from '../../../dev/processes.ts';
import { type PreparedEvent, prepareEvent } from '../../../metering/event.ts';
import { aggregationTypes } from '../../../metering/meter.ts';
import { type CutBucket, takeApart } from '../../../metering/postgres/dense-usage.ts';
import { readUsage } from '../../../metering/postgres/read-usage.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { parsed } from '../../support/fraction.ts';
import { newMeter } from '../../support/metering.ts';
import { type KnownEvent, type KnownMeasure, type KnownValue, knownUsage } from '../../support/oracles/usage-oracle.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** Where the hour of many events begins: in the middle of its day. */
const hour = Date.parse('2026-03-10T13:00:00Z');

const number = (plain: string): KnownValue => ({ json: plain, number: parsed(plain), text: plain });
const values = ['0', '1', '-4', '2.5', '-0.125', '7', '123456789012345678.123456789012345', '-90000'].map(number);

/** Within an hour: on a minute, beside one, at its ends, anywhere. */
const withinMs = fc.oneof(
  fc.integer({ min: 0, max: 59 }).map((minute) => minute * minuteMs),
  fc.integer({ min: 1, max: 60 }).map((minute) => minute * minuteMs - 1),
  fc.constantFrom(0, hourMs - 1),
  fc.integer({ min: 0, max: hourMs - 1 }),
);
/** Beside, before and after the hour, some days away at most. */
const aroundMs = fc.oneof(
  fc.integer({ min: -60, max: 60 }).map((hours) => hours * hourMs),
  fc.constantFrom(-1, 0, 1, hourMs - 1, hourMs, hourMs + 1),
  withinMs,
  fc.integer({ min: -2 * dayMs, max: 2 * dayMs }),
);
const eventOf = (at: fc.Arbitrary<number>) => fc.record({ at, n: fc.constantFrom(...values) });

const scenario = fc.record({
  // Some hours are used in a part of them only, so that a question may cut where nothing happened.
  busy: fc.constantFrom([0, hourMs], [0, hourMs / 2], [hourMs / 4, hourMs]),
  dense: fc.array(eventOf(withinMs), { minLength: 300, maxLength: 340 }),
  others: fc.array(eventOf(aroundMs), { maxLength: 20 }),
  late: fc.array(eventOf(aroundMs), { minLength: 1, maxLength: 6 }),
  voided: fc.array(fc.nat({ max: 299 }), { minLength: 1, maxLength: 4 }),
  intervals: fc.array(fc.tuple(aroundMs, aroundMs), { minLength: 5, maxLength: 5 }),
});

const measures = aggregationTypes.map(
  (type): KnownMeasure => ({
    type,
    field: type === 'COUNT' ? null : 'n',
    multiplier: type === 'SUM_WITH_MULTIPLIER' ? '0.001' : null,
    expression: null,
    bucketSize: null,
    groupBy: null,
    filters: [],
  }),
);

interface Asked {
  id: string;
  measure: KnownMeasure;
}

test('a question that cuts through an hour of many events is answered as its events are, whatever comes later', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ busy: [busyFrom = 0, busyTo = 0], dense, others, late, voided, intervals }) => {
      const run = randomUUID();
      const meters = await Promise.all(measures.map((measure) => meterOf(run, measure)));
      const crowd = dense.map(({ at, n }) => ({ at: busyFrom + (at % (busyTo - busyFrom)), n }));
      const stream = [...crowd, ...others].map((made, index) => known(run, index, made));
      await store.append(scope, stream.map(sent));
      const questions = intervals.map(([a, b]) => ({ from: hour + Math.min(a, b), to: hour + Math.max(a, b) }));

      await refine(meters, run, stream, questions);
      expect(await refine(meters, run, stream, questions)).toEqual([]);

      const more = [
        ...late.map((made, index) => known(run, 1_000 + index, made)),
        // Ids that were there: copies, which count nothing.
        ...late.map((made, index) => known(run, index, made)),
      ];
      await store.append(scope, more.map(sent));
      stream.push(...more);
      await refine(meters, run, stream, questions);
      expect(await refine(meters, run, stream, questions)).toEqual([]);

      const gone = new Set(voided.map((index) => `${run}-${index}`));
      for (const id of gone)
        await inTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'property' }));
      const left = stream.filter(({ id }) => !gone.has(id));
      // As many again as were taken away, so that only the number of events is what it was.
      const again = [...gone].map((_, index) => known(run, 2_000 + index, crowd[index]!));
      await store.append(scope, again.map(sent));
      await refine(meters, run, [...left, ...again], questions);
      await refine(meters, run, [...left, ...again], questions);
      expect(await inSqlTransaction(database, scope, (tx) => store.verify(tx, scope))).toEqual([]);
    }),
    { numRuns: 4 },
  );
});

/** Compares every answer with the oracle's, and takes apart what they cut through. */
async function refine(
  meters: readonly Asked[],
  run: string,
  stream: readonly KnownEvent[],
  intervals: readonly { from: number; to: number }[],
): Promise<CutBucket[]> {
  const cut: CutBucket[] = [];
  const asked = meters.flatMap((meter) => intervals.map((interval, index) => ({ meter, interval, index })));
  const questions = asked.map(({ meter, interval: { from, to }, index }) => ({
    key: `${meter.id} ${index}`,
    meterId: meter.id,
    externalCustomerIds: [run],
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  }));
  const answers = await inSqlTransaction(database, scope, (tx) =>
    readUsage(tx, scope, questions, (buckets) => cut.push(...buckets)),
  );
  for (const { meter, interval, index } of asked) {
    const question = { ...interval, weighed: interval, customers: [run], timezone: 'UTC', anchor: null };
    const { value, eventCount } = knownUsage(stream, meter.measure, question);
    const about = { type: meter.measure.type, from: interval.from - hour, to: interval.to - hour };
    const answer = answers.get(`${meter.id} ${index}`);
    expect({ ...about, value: answer?.value, eventCount: answer?.eventCount }).toEqual({ ...about, value, eventCount });
  }
  for (const bucket of cut) await takeApart(database, scope, bucket);
  return cut;
}

async function meterOf(eventName: string, measure: KnownMeasure): Promise<Asked> {
  const { type, field, multiplier } = measure;
  const { id } = await newMeter(database, scope, { type, field, multiplier }, { eventName });
  return { id, measure };
}

function known(run: string, index: number, { at, n }: { at: number; n: KnownValue }): KnownEvent {
  return { id: `${run}-${index}`, customer: run, atMs: hour + at, properties: { n } };
}

function sent({ id, customer, atMs, properties }: KnownEvent): PreparedEvent {
  return prepareEvent({
    event_name: customer,
    external_customer_id: customer,
    event_id: id,
    timestamp: new Date(atMs).toISOString(),
    properties: { n: JSON.rawJSON(properties.n?.json ?? '0') },
  });
}

/** A customer with many events in one hour, a third of them in its first minute. */
async function denseCustomer(type: string, count = 400): Promise<{ meterId: string; customer: string }> {
  const customer = randomUUID();
  const { id } = await newMeter(
    database,
    scope,
    { type, field: type === 'COUNT' ? null : 'n' },
    { eventName: customer },
  );
  const stream = Array.from({ length: count }, (_, index) =>
    known(customer, index, { at: index % 3 ? index * 8_000 : index, n: number(String(index % 50)) }),
  );
  await store.append(scope, stream.map(sent));
  return { meterId: id, customer };
}

const question = (customer: string, meterId: string, from: number, to: number) => ({
  key: 'q',
  meterId,
  externalCustomerIds: [customer],
  from: new Date(hour + from).toISOString(),
  to: new Date(hour + to).toISOString(),
});

async function cutsOf(asked: ReturnType<typeof question>): Promise<CutBucket[]> {
  const cut: CutBucket[] = [];
  await inSqlTransaction(database, scope, (tx) => readUsage(tx, scope, [asked], (buckets) => cut.push(...buckets)));
  return cut;
}

test('an hour is used whole by a question that leaves nothing of it out', async () => {
  const { meterId, customer } = await denseCustomer('SUM');
  // The last event is 3 184 seconds into the hour.
  expect(await cutsOf(question(customer, meterId, -dayMs, 3_184_001))).toEqual([]);
  expect(await cutsOf(question(customer, meterId, -dayMs, 3_184_000))).toMatchObject([{ unit: 'hour', events: '400' }]);
});

test('an hour of few events is read from them, and nothing is made of it', async () => {
  const { meterId, customer } = await denseCustomer('SUM', 299);
  expect(await cutsOf(question(customer, meterId, -dayMs, 1_000))).toEqual([]);
});

test('the store takes an hour and a day apart that it was asked to cut through twice', async () => {
  const { meterId, customer } = await denseCustomer('COUNT_UNIQUE');
  const asked = question(customer, meterId, -3 * dayMs, 1_000_500);
  const ask = () => inSqlTransaction(database, scope, (tx) => store.usage(tx, scope, [asked]));
  const made = () =>
    inSqlTransaction(database, scope, (tx) =>
      tx.rows(
        `select n::int as n from (select meter, n from usage.dense_hour union all select meter, n from usage.dense_day) d
         join meter m on m.number = d.meter where m.id = $1`,
        [meterId],
      ),
    );
  const first = await ask();
  expect(await made()).toEqual([]);
  expect((await ask()).get('q')?.value).toBe(first.get('q')?.value);
  const found = await poll(async () => ((await made()).length === 2 ? made() : undefined), 20_000);
  expect(found).toEqual([{ n: 400 }, { n: 400 }]);
  expect((await ask()).get('q')).toMatchObject({
    value: first.get('q')?.value,
    eventCount: first.get('q')?.eventCount,
  });
  expect(await cutsOf(asked)).toEqual([]);
});

test('an hour that is still written to is not taken apart', async () => {
  const { meterId, customer } = await denseCustomer('SUM');
  const other = openPostgresUsageStore(database);
  const asked = question(customer, meterId, -dayMs, 1_000_500);
  for (let index = 0; index < 3; index += 1) {
    await inSqlTransaction(database, scope, (tx) => other.usage(tx, scope, [asked]));
    await store.append(scope, [sent(known(customer, 1_000 + index, { at: 5_000, n: number('1') }))]);
  }
  await other.close();
  const rows = await inSqlTransaction(database, scope, (tx) =>
    tx.rows('select 1 from usage.dense_hour d join meter m on m.number = d.meter where m.id = $1', [meterId]),
  );
  expect(rows).toEqual([]);
});

test('verification finds what was made of an hour or a day and is not what its events say', async () => {
  const { meterId, customer } = await denseCustomer('COUNT_UNIQUE');
  for (const cut of await cutsOf(question(customer, meterId, -3 * dayMs, 1_000_500)))
    await takeApart(database, scope, cut);
  const verify = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));
  expect(await verify()).toEqual([]);
  const change = (text: string) => inSqlTransaction(database, scope, (tx) => tx.rows(text, [meterId]));
  const own = 'meter = (select number from meter where id = $1)';
  await change(`update usage.dense_hour set ns[1] = ns[1] + 1 where ${own}`);
  await change(`update usage.dense_day set firsts[1] = firsts[1] - interval '1 second' where ${own}`);
  expect(await verify()).toMatchObject([{ meterId }, { meterId }]);
  const { differences } = await inSqlTransaction(database, scope, (tx) => store.verifySample(tx, scope, 1_000));
  expect(differences).toMatchObject([{ meterId }, { meterId }]);
  await inTransaction(database, scope, (tx) => store.recompute(tx, { id: meterId }));
  expect(await verify()).toEqual([]);
});

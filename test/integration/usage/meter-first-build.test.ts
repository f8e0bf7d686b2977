import { expect, test } from 'vitest';
import { buildFor } from '../../../activities/usage/meter-build.ts';
import type { Meter, MeterAggregation, MeterFilter } from '../../../db/entities/catalogue/meter.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { poll } from '../../../dev/processes.ts';
import { beginMetering } from '../../../metering/begin-metering.ts';
import { buildChunk, pendingBuilds, switchVersion } from '../../../metering/postgres/meter-build.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { createMeter, extendMeterFilters } from '../../../services/catalogue/meter.ts';
import { testDatabase } from '../../support/database.ts';
import { append, january, newCustomer, newMeter, usageOf } from '../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
await newCustomer(database, scope, 'acme');

const inScope = <T>(work: Parameters<typeof inSqlTransaction<T>>[2]) => inSqlTransaction(database, scope, work);
const verify = () => inScope((tx) => store.verify(tx, scope));
const value = (meter: Meter, question: object = {}) =>
  usageOf(database, store, scope, { meterId: meter.id, ...question });
const pending = () => inScope((tx) => pendingBuilds(tx, scope));

type Aggregation = Partial<MeterAggregation> & { type: string };

/** Makes a meter as in an installation with very many events; whether it is built later. */
const newInLarge = (eventName: string, aggregation: Aggregation, filters: MeterFilter[] = []) =>
  inTransaction(database, scope, async (tx) => {
    await tx.rows(`select set_config('perennial.inline_build_bytes', '-1', true)`);
    const none = { field: null, expression: null, multiplier: null, bucket_size: null, group_by: null };
    const meter = await createMeter(tx, {
      name: aggregation.type,
      eventName,
      aggregation: { ...none, ...aggregation },
      filters,
      resetUsage: 'BILLING_PERIOD',
    });
    return { meter, isPending: await beginMetering(tx, meter) };
  });
const build = (meter: Meter, events?: number) => inScope((tx) => buildChunk(tx, meter.id, events));
const finish = async (meter: Meter) => {
  for (let at = await build(meter); at && at.position < at.boundary; at = await build(meter));
  expect(await inScope((tx) => switchVersion(tx, meter.id))).toBe(true);
};

let sent = 0;
/** Sends an event a number, on days and in regions that differ. */
async function send(eventName: string, numbers: readonly number[]): Promise<string[]> {
  const events = numbers.map((n) => {
    sent += 1;
    return {
      event_id: `${eventName}-${sent}`,
      event_name: eventName,
      timestamp: `2026-01-${String((sent % 20) + 1).padStart(2, '0')}T10:20:00Z`,
      source: sent % 2 ? 'a' : 'b',
      properties: { region: sent % 3 ? 'eu' : 'us', n },
    };
  });
  await append(store, scope, events);
  return events.map(({ event_id }) => event_id);
}

/** Every way of asking about a meter. */
async function everyAnswer({ id, aggregation }: Meter) {
  const question = { key: 'q', meterId: id, externalCustomerIds: ['acme'], ...january };
  const windows = { windowSize: 'DAY', timezone: 'Europe/Berlin', billingAnchor: null };
  const part = { key: 'q', meterId: id, ...january };
  const shared = { questions: [part], bySource: true, byProperties: ['region'], sources: [] };
  return inScope(async (tx) => ({
    whole: (await store.usage(tx, scope, [question])).get('q')?.value,
    filtered: (await store.usage(tx, scope, [{ ...question, filters: { region: ['eu'] } }])).get('q')?.value,
    series: (await store.series(tx, scope, question, windows)).points,
    groups: await store.breakdown(tx, scope, { ...shared, windows: [], everyMeasure: false }),
    totals: await store.breakdown(tx, scope, {
      ...shared,
      bySource: false,
      byProperties: [],
      windows: [],
      everyMeasure: false,
    }),
    buckets: aggregation.bucket_size
      ? await store.bucketBreakdown(tx, scope, {
          ...shared,
          bySource: false,
          byProperties: [],
          bucketing: { size: 'DAY', timezone: 'UTC', billingAnchor: null },
        })
      : null,
  }));
}

test.each([
  ['COUNT', {}],
  ['SUM', { field: 'n' }],
  ['AVG', { field: 'n' }],
  ['MAX', { field: 'n' }],
  ['LATEST', { field: 'n' }],
  ['COUNT_UNIQUE', { field: 'n' }],
  ['WEIGHTED_SUM', { field: 'n' }],
  ['MAX', { field: 'n', bucket_size: 'HOUR', group_by: 'region' }],
] as const)(
  'a new %s over many events answers exactly at every moment of its build, and so does it afterwards',
  async (type, how) => {
    const eventName = `first-${type}-${Object.keys(how).length}`;
    await send(eventName, [5, 2, 9, 2, 7]);
    const control = await newMeter(database, scope, { type, ...how }, { eventName });
    const { meter, isPending } = await newInLarge(eventName, { type, ...how });
    expect(isPending).toBe(true);
    const same = async () => {
      const [answers, known] = [await everyAnswer(meter), await everyAnswer(control)];
      expect(answers).toEqual(known);
      expect(await verify()).toEqual([]);
    };
    await same();
    await send(eventName, [1, 30]);
    await same();
    await build(meter, Number((await build(meter, 0))?.boundary) - 2);
    await send(eventName, [8]);
    await same();
    await finish(meter);
    await same();
    await send(eventName, [4, 8]);
    await same();
    expect(await pending()).toEqual([]);
  },
);

test('a meter whose name no event has is built at once, whatever the installation holds', async () => {
  const { meter, isPending } = await newInLarge('unheard', { type: 'COUNT' });
  expect(isPending).toBe(false);
  await send('unheard', [1, 1]);
  expect(await value(meter)).toBe('2');
});

test('a void takes its event out of the answer and of what is built', async () => {
  const ids = await send('voided', [10, 20, 40, 80]);
  const { meter } = await newInLarge('voided', { type: 'SUM', field: 'n' });
  await build(meter, Number((await build(meter, 0))?.boundary) - 2);
  const [late] = await send('voided', [160]);
  for (const id of [ids[0]!, ids[3]!, late!]) {
    await inTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'wrong' }));
  }
  expect(await value(meter)).toBe('60');
  await finish(meter);
  expect(await value(meter)).toBe('60');
  expect(await verify()).toEqual([]);
});

test('filters that are added while it is built hold at once', async () => {
  await send('narrowed', [1, 1, 1, 1, 1, 1]);
  const { meter } = await newInLarge('narrowed', { type: 'COUNT' }, [{ key: 'region', values: ['us'] }]);
  await build(meter, Number((await build(meter, 0))?.boundary) - 3);
  await inTransaction(database, scope, async (tx) => {
    await tx.rows(`select set_config('perennial.inline_build_bytes', '-1', true)`);
    const changed = await extendMeterFilters(tx, meter.id, [{ key: 'region', values: ['eu'] }]);
    expect(await beginMetering(tx, changed)).toBe(true);
  });
  expect(await value(meter)).toBe('6');
  await send('narrowed', [1, 1]);
  expect(await value(meter)).toBe('8');
  await finish(meter);
  expect(await value(meter)).toBe('8');
  expect(await verify()).toEqual([]);
});

test('a recomputation in between leaves nothing to be built, and nothing is counted twice', async () => {
  await send('recomputed', [1, 1, 1, 1]);
  const { meter } = await newInLarge('recomputed', { type: 'COUNT' });
  await build(meter, Number((await build(meter, 0))?.boundary) - 2);
  await inTransaction(database, scope, (tx) => store.recompute(tx, meter));
  expect(await build(meter)).toBeNull();
  expect(await value(meter)).toBe('4');
  expect(await verify()).toEqual([]);
});

test('a step that is killed is repeated from where it had come to, while writers write', async () => {
  await send('killed', [1, 2, 4, 8]);
  const { meter } = await newInLarge('killed', { type: 'SUM', field: 'n' });
  const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, meterId: meter.id };
  const boundary = Number((await build(meter, 0))?.boundary);
  await build(meter, boundary - 3);
  // The first step waits for this transaction, and is killed while it does.
  const away = await inScope(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock(7101, number) from environment where id = $1', [scope.environmentId]);
    const step = buildFor(database, start, () => false, 1).then(
      () => 'done',
      () => 'killed',
    );
    await poll(async () => {
      const killed = await tx.rows<{ ended: boolean }>(
        `select pg_terminate_backend(pid) as ended from pg_locks where locktype = 'advisory' and classid = 7101 and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return killed.length > 0 || undefined;
    }, 20_000);
    return step;
  });
  expect(away).toBe('killed');
  const [between] = [await build(meter, 0)];
  expect(between?.position).toBe(boundary - 3);
  const one = await buildFor(database, start, () => true, 1);
  expect(one).toEqual({ position: boundary - 2, boundary, isDone: false });
  const [last] = await Promise.all([buildFor(database, start, () => false, 1), send('killed', [16, 32, 64])]);
  expect(last).toMatchObject({ isDone: true });
  expect(await value(meter)).toBe('127');
  expect(await verify()).toEqual([]);
});

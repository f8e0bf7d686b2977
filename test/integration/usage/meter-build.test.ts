import { expect, test } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { buildFor } from '../../../activities/usage/meter-build.ts';
import { beginMeterBuilds } from '../../../api/usage/meter-build.ts';
import type { Meter, MeterFilter } from '../../../db/entities/catalogue/meter.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { poll } from '../../../dev/processes.ts';
import { beginMetering } from '../../../metering/begin-metering.ts';
import { prepareEvent } from '../../../metering/event.ts';
import {
  buildChunk,
  dropEarlierVersions,
  pendingBuilds,
  switchVersion,
} from '../../../metering/postgres/meter-build.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { extendMeterFilters } from '../../../services/catalogue/meter.ts';
import { meterBuildWorkflowId } from '../../../workflows/usage/meter-build.messages.ts';
import { testPlatform } from '../../support/billing.ts';
import { append, january, newCustomer, newMeter, usageOf } from '../../support/metering.ts';

const { base, temporal } = await testPlatform();
const { database, scope } = base;
const store = openPostgresUsageStore(database);
await newCustomer(database, scope, 'acme');

const inScope = <T>(work: Parameters<typeof inSqlTransaction<T>>[2]) => inSqlTransaction(database, scope, work);
const verify = () => inScope((tx) => store.verify(tx, scope));
const value = (meter: Meter, question: object = {}) =>
  usageOf(database, store, scope, { meterId: meter.id, ...question });

/** Changes the filters as in an installation with very many events. */
const extend = (meter: Meter, filters: MeterFilter[]) =>
  inTransaction(database, scope, async (tx) => {
    await tx.rows(`select set_config('perennial.inline_build_bytes', '-1', true)`);
    return beginMetering(tx, await extendMeterFilters(tx, meter.id, filters));
  });
const build = (meter: Meter, events?: number) => inScope((tx) => buildChunk(tx, meter.id, events));
const finish = async (meter: Meter) => {
  for (let at = await build(meter); at && at.position < at.boundary; at = await build(meter));
  expect(await inScope((tx) => switchVersion(tx, meter.id))).toBe(true);
};

let made = 0;
/** A meter of its own event name that counts events of Europe, and events in the regions given. */
async function european(aggregation: Parameters<typeof newMeter>[2], regions: readonly string[]) {
  made += 1;
  const eventName = `built-${made}`;
  const options = { eventName, filters: [{ key: 'region', values: ['eu'] }] };
  const meter = await newMeter(database, scope, aggregation, options);
  let sent = 0;
  const send = async (places: readonly string[]) => {
    const events = places.map((region) => {
      sent += 1;
      return {
        event_id: `${eventName}-${sent}`,
        event_name: eventName,
        timestamp: `2026-01-${String((sent % 20) + 1).padStart(2, '0')}T10:20:00Z`,
        properties: { region, n: sent },
      };
    });
    await append(store, scope, events);
    return events.map(({ event_id }) => event_id);
  };
  return { meter, eventName, send, ids: await send(regions) };
}

const everywhere = [{ key: 'region', values: ['us'] }];

test.each([
  ['COUNT', null],
  ['SUM', 'n'],
  ['AVG', 'n'],
  ['MAX', 'n'],
  ['LATEST', 'n'],
  ['COUNT_UNIQUE', 'n'],
  ['WEIGHTED_SUM', 'n'],
] as const)(
  'a changed %s is answered by the version in force until the new one is whole, and events that come meanwhile are in both',
  async (type, field) => {
    const { meter, eventName, send } = await european({ type, field }, ['eu', 'us', 'eu', 'us', 'us']);
    const onlyEurope = () => value(meter, { filters: { region: ['eu'] } });
    expect(await extend(meter, everywhere)).toBe(true);
    expect(await value(meter)).toBe(await onlyEurope());
    await send(['us', 'eu']);
    await build(meter, 2);
    await send(['eu', 'us']);
    expect(await value(meter)).toBe(await onlyEurope());
    expect(await verify()).toEqual([]);
    await finish(meter);

    const all = await newMeter(database, scope, { type, field }, { eventName });
    expect(await value(meter)).toBe(await value(all));
    expect(await value(meter)).not.toBe(await onlyEurope());
    await send(['us', 'ap']);
    expect(await value(meter)).toBe(await value(all, { filters: { region: ['eu', 'us'] } }));
    await inScope((tx) => dropEarlierVersions(tx, meter.id));
    expect(await verify()).toEqual([]);
  },
);

test('writers go on while a version is built, and no event is lost or counted twice', async () => {
  const { meter, send } = await european(
    { type: 'SUM', field: 'n' },
    Array.from({ length: 60 }, () => 'us'),
  );
  const writing = Array.from({ length: 4 }, async (_, writer) => {
    for (let round = 0; round < 12; round += 1) await send(writer % 2 ? ['us', 'eu'] : ['eu', 'us', 'ap']);
  });
  await extend(meter, everywhere);
  for (let at = await build(meter, 7); at && at.position < at.boundary; at = await build(meter, 7));
  expect(await inScope((tx) => switchVersion(tx, meter.id))).toBe(true);
  await Promise.all(writing);
  expect(await verify()).toEqual([]);
  expect(await value(meter)).toBe(await value(meter, { filters: { region: ['eu', 'us'] } }));
});

test('a build whose connection is killed goes on where it had come to', async () => {
  const { meter } = await european({ type: 'SUM', field: 'n' }, ['eu', 'us', 'us', 'us']);
  await extend(meter, everywhere);
  const first = await build(meter, 2);
  const killed = inScope(async (tx) => {
    await buildChunk(tx, meter.id, 2);
    await tx.rows('select pg_terminate_backend(pg_backend_pid())');
  });
  await expect(killed).rejects.toThrow();
  expect(await inScope((tx) => switchVersion(tx, meter.id))).toBe(false);
  expect(await value(meter)).toBe('1');
  expect((await build(meter, 2))?.position).toBe(Number(first?.position) + 2);
  await finish(meter);
  expect(await value(meter)).toBe('10');
  expect(await verify()).toEqual([]);
});

test('a void takes its event out of both, whether the build has come to it or not', async () => {
  const { meter, send, ids } = await european({ type: 'MAX', field: 'n' }, ['us', 'eu', 'us', 'us']);
  await extend(meter, everywhere);
  const boundary = Number((await build(meter, 0))?.boundary);
  await build(meter, boundary - 2);
  const [late] = await send(['us']);
  for (const id of [ids[0]!, ids[3]!, late!]) {
    await inTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'wrong' }));
  }
  expect(await value(meter)).toBe('2');
  await finish(meter);
  expect(await value(meter)).toBe('3');
  expect(await verify()).toEqual([]);
});

test('a meter that is changed again while it is built gets both changes', async () => {
  const { meter } = await european({ type: 'COUNT' }, ['eu', 'us', 'ap', 'za']);
  await extend(meter, everywhere);
  await build(meter, 1);
  await extend(meter, [{ key: 'region', values: ['ap'] }]);
  expect(await extend(meter, everywhere)).toBe(true);
  expect(await value(meter)).toBe('1');
  await finish(meter);
  expect(await value(meter)).toBe('3');
  expect(await inScope((tx) => pendingBuilds(tx, scope))).toEqual([]);
  expect(await verify()).toEqual([]);
});

test('a change that comes while the earlier version is dropped is built by the same step', async () => {
  const { meter } = await european({ type: 'COUNT' }, ['eu', 'us', 'ap']);
  await extend(meter, everywhere);
  const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, meterId: meter.id };
  const step = await inScope(async (tx) => {
    await tx.rows('select 1 from usage.rollup r join meter m on m.number = r.meter where m.id = $1 for update of r', [
      meter.id,
    ]);
    const running = buildFor(database, start, () => false);
    await poll(async () => ((await value(meter)) === '2' ? true : undefined), 20_000);
    await extend(meter, [{ key: 'region', values: ['ap'] }]);
    return { running };
  });
  expect(await step.running).toMatchObject({ isDone: true });
  expect(await value(meter)).toBe('3');
  expect(await verify()).toEqual([]);
});

test('what was billed is recomputed by the filters of its time', async () => {
  const { meter } = await european({ type: 'COUNT' }, ['eu', 'us']);
  const question = { key: 'q', meterId: meter.id, externalCustomerIds: ['acme'], ...january };
  const { watermark } = (await inScope((tx) => store.usage(tx, scope, [question]))).get('q')!;
  await extend(meter, everywhere);
  await finish(meter);
  expect(await value(meter)).toBe('2');
  expect(await value(meter, { watermark })).toBe('2');
  expect(await value(meter, { watermark, asDefinedThen: true })).toBe('1');
});

test('the workflow builds and switches; what was not started is started by reconcile', async () => {
  const { client } = temporal;
  const [begun, left] = [await european({ type: 'COUNT' }, ['us']), await european({ type: 'COUNT' }, ['us'])];
  await extend(begun.meter, everywhere);
  await beginMeterBuilds({ temporal: client, scope, log: { warn: () => undefined } }, database);
  await client.workflow.getHandle(meterBuildWorkflowId(begun.meter.id)).result();
  expect(await value(begun.meter)).toBe('1');

  await extend(left.meter, everywhere);
  await reconcile({ database, temporal: client });
  await client.workflow.getHandle(meterBuildWorkflowId(left.meter.id)).result();
  expect(await value(left.meter)).toBe('1');
  expect(await verify()).toEqual([]);
});

// The last one: its many events take as many places in the order that builds go through.
test.each([2, 6_000])(
  'in a batch of %i events that comes meanwhile, each version has the latest value of the events it counts',
  async (size) => {
    const { meter, eventName } = await european({ type: 'LATEST', field: 'n' }, []);
    await extend(meter, everywhere);
    const events = Array.from({ length: size }, (_, n) =>
      prepareEvent({
        event_id: `${eventName}-of-${size}-${n}`,
        event_name: eventName,
        external_customer_id: 'acme',
        timestamp: '2026-01-05T10:20:00Z',
        properties: { region: n % 2 === 0 ? 'eu' : 'us', n },
      }),
    );
    await store.load(scope, events, async () => undefined);
    expect(await value(meter)).toBe(String(size - 2));
    expect(await verify()).toEqual([]);
    await finish(meter);
    expect(await value(meter)).toBe(String(size - 1));
  },
);

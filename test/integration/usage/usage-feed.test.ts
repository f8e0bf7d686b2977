import { readFileSync } from 'node:fs';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, expect, test } from 'vitest';
import { createEventRetentionActivities } from '../../../activities/usage/event-retention.ts';
import { createUsageFeedActivities } from '../../../activities/usage/usage-feed.ts';
import { poll } from '../../../dev/processes.ts';
import { retentionScheduleId, retentionWorkflowType } from '../../../workflows/usage/event-retention.messages.ts';
import {
  type UsageFeedStart,
  usageFeedStartOptions,
  usageFeedWorkflowType,
} from '../../../workflows/usage/usage-feed.messages.ts';
import { testDatabase } from '../../support/database.ts';
import { append, newMeter, usageOf } from '../../support/metering.ts';
import { makeIngestedIn } from '../../support/old-event.ts';
import { testTemporal, workflowBundle } from '../../support/temporal.ts';
import { openEngine } from '../../support/usage-engines.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { database, scope, ownerUrl } = base;
const { store, settle, behind } = await openEngine('clickhouse', database);
const { server, clickhouse } = behind!;

const connection = await NativeConnection.connect({ address: temporal.address });
afterAll(() => connection.close());
const code = readFileSync(await workflowBundle(), 'utf8');
let isSwitchedOff = false;
const [on, off] = [clickhouse, null].map((engine) => createUsageFeedActivities({ database, clickhouse: engine }));

/** A worker that feeds and drops until it is stopped. */
async function feeder(): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    connection,
    namespace: temporal.namespace,
    taskQueue: usageFeedStartOptions().taskQueue,
    workflowBundle: { code },
    activities: {
      ...createEventRetentionActivities({ database, clickhouse }),
      feedUsage: (start: UsageFeedStart) => (isSwitchedOff ? off! : on!).feedUsage(start),
    },
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
}

const fedRows = () => Number(server.query('select count() from usage_event_1'));

test('the workflow feeds what arrives, goes on with another worker, and ends when the engine is switched off', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' });
  const send = (count: number) =>
    append(
      store,
      scope,
      Array.from({ length: count }, () => ({ timestamp: '2026-01-10T00:00:00Z' })),
    );
  await send(3);
  const run = await temporal.client.workflow.start(usageFeedWorkflowType, {
    ...usageFeedStartOptions(),
    args: [{ stepMs: 500 }],
  });
  const stopFirst = await feeder();
  await poll(async () => (fedRows() === 3 ? true : undefined), 20_000);
  await stopFirst();
  await send(4);
  expect(fedRows()).toBe(3);
  const stopSecond = await feeder();
  await poll(async () => (fedRows() === 7 ? true : undefined), 20_000);
  expect(fedRows()).toBe(7);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('7');
  isSwitchedOff = true;
  await temporal.client.workflow.getHandle(run.workflowId).result();
  await stopSecond();
});

test('retention tells what waits for the feed, and drops it from both engines once it was taken', async () => {
  await append(store, scope, [{ event_id: 'old', timestamp: '2024-02-05T00:00:00Z' }]);
  await makeIngestedIn(ownerUrl, '2024-02', ['old']);
  const run = { workflowId: retentionScheduleId, taskQueue: usageFeedStartOptions().taskQueue, args: [{ days: 400 }] };
  const dropped = () => temporal.client.workflow.execute(retentionWorkflowType, run);
  const stop = await feeder();
  const month = { partition: 'event_202402', eventCount: 0 };
  expect(await dropped()).toEqual([{ ...month, waitsFor: 'the usage feed has not taken all of its events' }]);
  await settle();
  expect(fedRows()).toBe(8);
  expect(await dropped()).toEqual([{ ...month, eventCount: 1 }]);
  expect(fedRows()).toBe(7);
  await stop();
});

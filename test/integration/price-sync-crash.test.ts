import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { subscribeDirectly } from '../../bench/subscribed.ts';
import { hasEnded, poll, type RunningProgram } from '../../dev/processes.ts';
import { startService } from '../../dev/services.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { priceSyncWorkflowId } from '../../workflows/price-sync.messages.ts';
import { testApp } from '../support/app.ts';
import { monthlyPlan } from '../support/billing.ts';
import { testDatabase } from '../support/database.ts';
import { testTemporal, workflowBundle } from '../support/temporal.ts';
import { priceSyncs } from './price-sync.fixture.ts';

// More than one set, so that a run can die between two of them.
const subscriptions = 230;

const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base, temporal);
const { asOwner, begin, usagePrice } = priceSyncs(api, base.ownerUrl);
const directory = mkdtempSync(join(tmpdir(), 'price-sync-'));
const workers: RunningProgram[] = [];
afterAll(async () => {
  for (const worker of workers) if (!hasEnded(worker)) worker.child.kill('SIGKILL');
  for (const worker of workers) await worker.ended;
  rmSync(directory, { recursive: true, force: true });
});

/** A worker process that dies when it reaches the crash point. */
async function startWorker(crashPoints: string): Promise<RunningProgram> {
  const worker = await startService({
    name: 'worker',
    slug: `worker-${workers.length}`,
    entry: 'activities/worker.ts',
    directory,
    env: {
      ...process.env,
      DATABASE_URL: base.applicationUrl,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      WORKFLOW_BUNDLE: await workflowBundle(),
      PERENNIAL_CRASH_POINTS: crashPoints,
    },
    isReady: async () => true,
  });
  workers.push(worker);
  return worker;
}

const plan = await monthlyPlan(api);
const metering = openPostgresUsageStore(base.database);
const start = new Date().toISOString();
await subscribeDirectly({ ...base, metering }, { count: subscriptions, planId: plan.planId, start });
await metering.close();
const [added, root] = [await usagePrice(plan), await usagePrice(plan)];
const { body: successor } = await api<{ id: string }>('PUT', `/prices/${root}`, { amount: '3' });
await begin(plan.planId);

// One run is killed in its first set, between its sets, and when everything is done but not told.
test.each(['beforeCommit', 'beforeEffect:2', 'beforeAnswer'])('a worker is killed at %s', async (moment) => {
  const point = `syncPrices.${moment}`;
  const worker = await startWorker(point);
  const died = await poll(async () => (hasEnded(worker) ? true : undefined), 50_000);
  expect(died, `the worker dies at ${point}`).toBe(true);
  expect(readFileSync(worker.logFile, 'utf8')).toContain(`crash point ${point.split(':')[0]} reached`);
});

test('its successor ends the run, which did everything once and counts it once', async () => {
  await startWorker('');
  const run = temporal.client.workflow.getHandle(priceSyncWorkflowId(plan.planId));
  expect(await run.result()).toMatchObject({
    sync_status: 'completed',
    subscriptions_synced: subscriptions,
    line_items_created: 3 * subscriptions,
    failures: [],
  });
  const items = await asOwner(
    `select price_id, count(*) as n, count(distinct subscription_id) as of from subscription_line_item
     where price_id = any($1) group by price_id`,
    [[added, root, successor.id]],
  );
  const once = { n: String(subscriptions), of: String(subscriptions) };
  expect(items).toMatchObject([once, once, once]);
});

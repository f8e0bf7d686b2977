import { expect, test } from 'vitest';
import { subscribeDirectly } from '../../../bench/subscribed.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { priceSyncWorkflowId } from '../../../workflows/catalogue/price-sync.messages.ts';
import { testApp } from '../../support/app.ts';
import { monthlyPlan } from '../../support/billing.ts';
import { crashingWorkers } from '../../support/crashing-worker.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { priceSyncs } from './price-sync.fixture.ts';

// More than one set, so that a run can die between two of them.
const subscriptions = 230;

const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base, temporal);
const { asOwner, begin, latest, usagePrice } = priceSyncs(api, base.ownerUrl);
const { startWorker, dieAt } = crashingWorkers(base, temporal);

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
  await dieAt(`syncPrices.${moment}`);
});

test('its successor ends the run, which did everything once and counts it once', async () => {
  await startWorker();
  const run = temporal.client.workflow.getHandle(priceSyncWorkflowId(plan.planId));
  expect(await run.result()).toMatchObject({
    sync_status: 'completed',
    subscriptions_synced: subscriptions,
    line_items_created: 3 * subscriptions,
  });
  expect((await latest(plan.planId)).failures).toEqual([]);
  const items = await asOwner(
    `select price_id, count(*) as n, count(distinct subscription_id) as of from subscription_line_item
     where price_id = any($1) group by price_id`,
    [[added, root, successor.id]],
  );
  const once = { n: String(subscriptions), of: String(subscriptions) };
  expect(items).toMatchObject([once, once, once]);
});

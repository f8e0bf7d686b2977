import pg from 'pg';
import { makePlan } from '../../bench/account.ts';
import { cancelPriceSync, priceSyncWorkflowId } from '../../workflows/catalogue/price-sync.messages.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { personal } from './personal.ts';
import { asOwner, newExternalId, type Stage, subscribed, until } from './stage.ts';

/** A plan of its own with a subscription that lacks a price. */
async function withPriceToSync(stage: Stage) {
  const { api } = stage.platform;
  const plan = await makePlan(api, { fee: personal.fee, perCall: personal.perCall, eventName: newExternalId() });
  await subscribed(stage.platform, plan.planId, { card: 'succeeds' });
  await api('PUT', `/prices/${plan.usagePriceId}`, { amount: '0.5' });
  const sync = () => api('POST', `/plans/${plan.planId}/sync/subscriptions`);
  const run = stage.platform.temporal.workflow.getHandle(priceSyncWorkflowId(plan.planId));
  return { planId: plan.planId, sync, run };
}

export async function pricesSynced(stage: Stage): Promise<void> {
  const { sync, run } = await withPriceToSync(stage);
  await sync();
  await run.result();
}

/** A run is stopped while it waits for its plan, which somebody else holds. */
export async function priceSyncStopped(stage: Stage): Promise<void> {
  const { planId, sync, run } = await withPriceToSync(stage);
  const holder = new pg.Client({ connectionString: stage.platform.ownerUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select 1 from plan where id = $1 for update', [planId]);
  await sync();
  const stopping = await run.startUpdate(cancelPriceSync, { waitForStage: 'ACCEPTED' });
  await holder.end();
  await stopping.result();
}

/** A run cannot even begin, for a reason that is no outage. */
export async function priceSyncParked(stage: Stage): Promise<void> {
  const { sync, run } = await withPriceToSync(stage);
  await asOwner(stage, 'alter table price_sync rename to price_sync_away');
  try {
    await sync();
    await until(async () => (await run.query<{ blockedOn: string | null }>('progress')).blockedOn ?? undefined);
  } finally {
    await asOwner(stage, 'alter table price_sync_away rename to price_sync');
  }
  await run.executeUpdate(retry);
  await run.result();
}

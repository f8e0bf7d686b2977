import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PriceSyncActivities } from '../../activities/catalogue/price-sync.ts';
import { refuse } from '../../billing/refusal.ts';
import { bulkStep } from '../activity-options.ts';
import { described, remedy } from '../handler-descriptions.ts';
import { retry } from '../lifecycle.messages.ts';
import { blockedOnKey, statusKey } from '../search-attributes.ts';
import { cancelPriceSync, type PriceSyncStanding, type PriceSyncStart, progress } from './price-sync.messages.ts';

const step = proxyActivities<PriceSyncActivities>(bulkStep);

/**
 * Brings the usage prices of a plan to its subscriptions, step after step. Each step works for some seconds in transactions
 * of a few hundred subscriptions and notes in each how far it is, so a killed worker's successor goes on there. One
 * subscription that cannot be synced is noted and left behind; a run that cannot go on waits for `retry` or for being
 * cancelled. spec: catalogue-and-metering §3.1
 */
export async function priceSync(start: PriceSyncStart): Promise<PriceSyncStanding> {
  let standing: PriceSyncStanding | null = null;
  let blockedOn: string | null = null;
  let isCancelled = false;
  let isOver = false;

  setHandler(
    retry,
    () => {
      if (blockedOn === null)
        throw refuse('invalid_operation', 'the price sync is not parked; there is nothing to retry');
      blockedOn = null;
      return { performing: 'syncPrices' };
    },
    described(retry),
  );
  setHandler(progress, () => ({ standing, blockedOn }), described(progress));
  setHandler(
    cancelPriceSync,
    async () => {
      isCancelled = true;
      blockedOn = null;
      await condition(() => isOver);
      return standing as PriceSyncStanding;
    },
    described(cancelPriceSync),
  );

  while (standing === null || standing.sync_status === 'running') {
    try {
      if (standing === null) standing = await step.beginPriceSync(start);
      else if (isCancelled) standing = await step.endPriceSync(start);
      else standing = await step.syncPrices(start);
      setCurrentDetails(detailsOf(start, standing));
    } catch (error) {
      blockedOn = reasonOf(error);
      setCurrentDetails(`Price sync of plan ${start.planId}\n\n**parked:** ${blockedOn}\n\n${remedy}`);
      upsertSearchAttributes([{ key: blockedOnKey, value: 'syncPrices' }]);
      await condition(() => blockedOn === null);
      upsertSearchAttributes([{ key: blockedOnKey, value: null }]);
    }
  }
  upsertSearchAttributes([{ key: statusKey, value: standing.sync_status }]);
  isOver = true;
  await condition(allHandlersFinished);
  return standing;
}

function detailsOf({ planId }: PriceSyncStart, standing: PriceSyncStanding): string {
  const done = standing.subscriptions_synced + standing.subscriptions_failed;
  const items = `line items: ${standing.line_items_created} created, ${standing.line_items_terminated} ended`;
  const subscriptions = `${done} of ${standing.subscriptions_found} subscriptions, ${standing.subscriptions_failed} failed`;
  return `Price sync of plan ${planId}\n\n${standing.sync_status} · ${subscriptions} · ${items}`;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  return cause.message.slice(0, 300);
}

import { z } from 'zod';
import type { PriceSyncRow } from '../../services/subscription/price-sync/price-sync.ts';
import { timestampOutput } from '../scalars.schema.ts';

/** A workflow that was started. */
export const startedWorkflow = z
  .object({ message: z.string(), workflow_id: z.string(), run_id: z.string() })
  .meta({ id: 'TemporalWorkflowResult' });

/** The latest run of a plan's price sync: ours, because its result is known to the workflow only after it has ended. */
export const priceSync = z
  .object({
    id: z.string(),
    plan_id: z.string(),
    workflow_id: z.string(),
    sync_status: z.enum(['running', 'completed', 'cancelled', 'interrupted']),
    /** Prices up to this sequence are brought to the subscriptions. */
    target_sequence: z.int(),
    subscriptions_found: z.int(),
    subscriptions_synced: z.int(),
    subscriptions_failed: z.int(),
    line_items_found_for_creation: z.int(),
    line_items_created: z.int(),
    line_items_terminated: z.int(),
    /** The first hundred of those that failed; the next run tries them again. */
    failures: z.array(z.object({ subscription_id: z.string(), reason: z.string() })),
    started_at: timestampOutput(),
    finished_at: timestampOutput().nullable(),
  })
  .meta({ id: 'PriceSync' });

export function viewPriceSync(row: PriceSyncRow, workflowId: string): z.output<typeof priceSync> {
  return {
    id: row.id,
    plan_id: row.planId,
    workflow_id: workflowId,
    sync_status: row.syncStatus,
    target_sequence: row.targetSequence,
    subscriptions_found: row.subscriptionsFound,
    subscriptions_synced: row.subscriptionsSynced,
    subscriptions_failed: row.subscriptionsFailed,
    line_items_found_for_creation: row.lineItemsFoundForCreation,
    line_items_created: row.lineItemsCreated,
    line_items_terminated: row.lineItemsTerminated,
    failures: row.failures,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
  };
}

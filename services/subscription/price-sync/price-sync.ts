import { targetSequence } from '../../../billing/price/price-sync.ts';
import type { SyncFailure } from '../../../db/entities/catalogue/price-sync.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { readUsagePrices } from '../item/subscription-item.ts';
import { participants } from './price-sync-set.ts';

export type SyncStatus = 'running' | 'completed' | 'cancelled' | 'interrupted';

/** A run of a plan's price sync as its row has it. */
export interface PriceSyncRow {
  id: string;
  planId: string;
  syncStatus: SyncStatus;
  targetSequence: number;
  afterSubscriptionId: string;
  subscriptionsFound: number;
  subscriptionsSynced: number;
  subscriptionsFailed: number;
  lineItemsFoundForCreation: number;
  lineItemsCreated: number;
  lineItemsTerminated: number;
  failures: SyncFailure[];
  startedAt: string;
  finishedAt: string | null;
}

/** How many failures a run keeps with their reasons; all are counted. */
const maxFailuresKept = 100;

/**
 * Begins a run: takes the plan's present target and counts who takes part. Asked again it answers the run as it stands. A
 * run of the plan that never ended, because its workflow was lost, is marked interrupted. Throws `not_found` for an unknown
 * plan. spec: catalogue-and-metering §3.1
 */
export async function beginPriceSync(
  sql: Sql,
  scope: Scope,
  { syncId, planId }: { syncId: string; planId: string },
): Promise<PriceSyncRow> {
  const existing = await findPriceSync(sql, scope, syncId);
  if (existing) return existing;
  // Waits for whoever is giving a price of this plan a sequence, so that every one up to the target can be seen.
  const [plan] = await sql.rows('select id from plan where environment_id = $1 and id = $2 for share', [
    scope.environmentId,
    planId,
  ]);
  if (!plan) throw missing('plan', planId);
  const target = targetSequence(await readUsagePrices(sql, scope.environmentId, planId));
  const now = new Date().toISOString();
  const interrupted = await sql.rows<{ id: string }>(
    `update price_sync set sync_status = 'interrupted', finished_at = $3, updated_at = $3
     where environment_id = $1 and plan_id = $2 and sync_status = 'running' returning id`,
    [scope.environmentId, planId, now],
  );
  await sql.rows(
    `insert into price_sync (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, plan_id, target_sequence, subscriptions_found)
     select $1, $2, $3, $4, $5, $4, $5, $6, $7, count(*) from subscription s where ${participants('$3', '$6', '$7')}`,
    [syncId, scope.tenantId, scope.environmentId, now, scope.actor, planId, target],
  );
  await auditSyncs(sql, scope, [
    ...interrupted.map(({ id }) => ({ id, action: 'interrupted' })),
    { id: syncId, action: 'started', detail: { plan_id: planId, target_sequence: target } },
  ]);
  return lockPriceSync(sql, scope, syncId);
}

/**
 * Ends a run as completed or cancelled; one that has ended stays as it is.
 * spec: catalogue-and-metering §3.1
 */
export async function endPriceSync(
  sql: Sql,
  scope: Scope,
  syncId: string,
  outcome: 'completed' | 'cancelled',
): Promise<PriceSyncRow> {
  const run = await lockPriceSync(sql, scope, syncId);
  if (run.syncStatus !== 'running') return run;
  await sql.rows(
    `update price_sync set sync_status = $3, finished_at = $4, updated_at = $4, updated_by = $5 where environment_id = $1 and id = $2`,
    [scope.environmentId, syncId, outcome, new Date().toISOString(), scope.actor],
  );
  const ended = await lockPriceSync(sql, scope, syncId);
  await auditSyncs(sql, scope, [{ id: syncId, action: outcome, detail: countsOf(ended) }]);
  return ended;
}

/** What a step adds to its run; the run then goes on behind `lastId`. */
export interface SyncStep {
  lastId: string;
  synced: number;
  found: number;
  created: number;
  terminated: number;
  failures: SyncFailure[];
}

/** Writes a step down in its own transaction, so that a killed run neither repeats nor forgets it. */
export async function recordStep(sql: Sql, scope: Scope, syncId: string, step: SyncStep): Promise<void> {
  await sql.rows(
    `update price_sync set after_subscription_id = $3, subscriptions_synced = subscriptions_synced + $4,
       line_items_found_for_creation = line_items_found_for_creation + $5, line_items_created = line_items_created + $6,
       line_items_terminated = line_items_terminated + $7, subscriptions_failed = subscriptions_failed + jsonb_array_length($8::jsonb),
       failures = case when jsonb_array_length(failures) < ${maxFailuresKept} then failures || $8::jsonb else failures end,
       updated_at = $9
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      syncId,
      step.lastId,
      step.synced,
      step.found,
      step.created,
      step.terminated,
      JSON.stringify(step.failures),
      new Date().toISOString(),
    ],
  );
}

/** Locks a run, so that a worker that was taken for dead and its successor do not both take the same step. */
export async function lockPriceSync(sql: Sql, scope: Scope, syncId: string): Promise<PriceSyncRow> {
  const [row] = await sql.rows<RawSync>(`${selectText} and id = $2 for update`, [scope.environmentId, syncId]);
  if (!row) throw missing('price sync', syncId);
  return priceSync(row);
}

/** A run, or null when it never began. */
export async function findPriceSync(sql: Sql, scope: Scope, syncId: string): Promise<PriceSyncRow | null> {
  const [row] = await sql.rows<RawSync>(`${selectText} and id = $2`, [scope.environmentId, syncId]);
  return row ? priceSync(row) : null;
}

/** The latest run of a plan; null when its prices were never synced. */
export async function latestPriceSync(sql: Sql, scope: Scope, planId: string): Promise<PriceSyncRow | null> {
  const [row] = await sql.rows<RawSync>(`${selectText} and plan_id = $2 order by created_at desc, id desc limit 1`, [
    scope.environmentId,
    planId,
  ]);
  return row ? priceSync(row) : null;
}

const selectText = `
select id, plan_id, sync_status, target_sequence, after_subscription_id, subscriptions_found, subscriptions_synced,
  subscriptions_failed, line_items_found_for_creation, line_items_created, line_items_terminated, failures, created_at, finished_at
from price_sync where environment_id = $1`;

interface RawSync {
  id: string;
  plan_id: string;
  sync_status: SyncStatus;
  target_sequence: string;
  after_subscription_id: string;
  subscriptions_found: number;
  subscriptions_synced: number;
  subscriptions_failed: number;
  line_items_found_for_creation: number;
  line_items_created: number;
  line_items_terminated: number;
  failures: SyncFailure[];
  created_at: string;
  finished_at: string | null;
  [column: string]: unknown;
}

function priceSync(row: RawSync): PriceSyncRow {
  return {
    id: row.id,
    planId: row.plan_id,
    syncStatus: row.sync_status,
    targetSequence: Number(row.target_sequence),
    afterSubscriptionId: row.after_subscription_id,
    subscriptionsFound: row.subscriptions_found,
    subscriptionsSynced: row.subscriptions_synced,
    subscriptionsFailed: row.subscriptions_failed,
    lineItemsFoundForCreation: row.line_items_found_for_creation,
    lineItemsCreated: row.line_items_created,
    lineItemsTerminated: row.line_items_terminated,
    failures: row.failures,
    startedAt: instantText(row.created_at),
    finishedAt: row.finished_at ? instantText(row.finished_at) : null,
  };
}

function countsOf(run: PriceSyncRow): Record<string, unknown> {
  return {
    plan_id: run.planId,
    subscriptions_synced: run.subscriptionsSynced,
    subscriptions_failed: run.subscriptionsFailed,
    line_items_created: run.lineItemsCreated,
    line_items_terminated: run.lineItemsTerminated,
  };
}

function auditSyncs(
  sql: Sql,
  scope: Scope,
  changes: readonly { id: string; action: string; detail?: Record<string, unknown> }[],
): Promise<void> {
  const occurredAt = new Date().toISOString();
  return writeAudit(
    sql,
    scope,
    changes.map(({ id, ...change }) => ({ ...change, objectType: 'price_sync', objectId: id, occurredAt })),
  );
}

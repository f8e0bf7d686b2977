import {
  decidePriceSync,
  type PriceSyncDecision,
  type SyncedLineItem,
  syncedStatuses,
} from '../../../billing/price/price-sync.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import {
  endLineItemsAt,
  insertLineItems,
  lineItemsOf,
  type PlanPrice,
  readUsagePrices,
} from '../item/subscription-item.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

/** Who takes part in a sync, as a condition on `s`; the arguments name parameters. spec: catalogue-and-metering §3.1 */
export function participants(environmentId: string, planId: string, target: string): string {
  const statuses = syncedStatuses.map((status) => `'${status}'`).join(', ');
  return `s.environment_id = ${environmentId} and s.plan_id = ${planId} and s.status = 'published' and s.subscription_type <> 'inherited'
    and s.subscription_status in (${statuses}) and s.synced_price_sequence < ${target}`;
}

/** What a set-based step of a sync works on. */
export interface SyncSet {
  syncId: string;
  planId: string;
  targetSequence: number;
  subscriptionIds: readonly string[];
}

/** The next subscriptions that take part, behind `after` in the order of their ids. */
export async function nextParticipants(
  sql: Sql,
  scope: Scope,
  run: { planId: string; targetSequence: number; afterSubscriptionId: string },
  limit: number,
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select s.id from subscription s where ${participants('$1', '$2', '$3')} and s.id > $4 order by s.id limit $5`,
    [scope.environmentId, run.planId, run.targetSequence, run.afterSubscriptionId, limit],
  );
  return rows.map((row) => row.id);
}

export interface SyncedSet {
  synced: number;
  found: number;
  created: number;
  terminated: number;
}

/**
 * Brings subscriptions in step with their plan, in the statements of one: line items, their ends, the sequence up to which
 * each is in step, audit and events. Prices are read anew: what was added or ended since the run began is taken along, and
 * the next run, which sees a higher sequence, finds it done. Nothing of this changes an agenda (a line item adds no instant
 * to it), so no workflow has to be told. spec: catalogue-and-metering §3.1
 */
export async function syncSet(sql: Sql, scope: Scope, set: SyncSet): Promise<SyncedSet> {
  const decided = await decideSet(sql, scope, set);
  const created = decided.items.length;
  const terminated = decided.changes.flatMap(({ decision }) => decision.terminate);
  await insertLineItems(sql, decided.items);
  await endLineItemsAt(sql, scope, terminated);
  await advanceSequences(sql, scope, decided.changes);
  await tell(sql, scope, set, decided.changes);
  return { synced: decided.changes.length, found: created, created, terminated: terminated.length };
}

/** How many line items a step would create for these subscriptions; writes nothing. */
export async function countWanted(sql: Sql, scope: Scope, set: SyncSet): Promise<number> {
  return (await decideSet(sql, scope, set)).items.length;
}

interface Change {
  row: SubscriptionRow;
  decision: PriceSyncDecision;
  /** False when only the sequence moves: then nothing about the subscription has changed for anybody. */
  isVisible: boolean;
}

async function decideSet(sql: Sql, scope: Scope, set: SyncSet): Promise<{ changes: Change[]; items: object[] }> {
  const rows = await lockSubscriptions(sql, scope.environmentId, set.subscriptionIds);
  const prices = await readUsagePrices(sql, scope.environmentId, set.planId);
  const pricesById = new Map(prices.map((price) => [price.id, price]));
  const lineItems = await readLineItems(sql, scope, set.subscriptionIds, [...pricesById.keys()]);
  const overridden = await readOverridden(sql, scope, set.subscriptionIds);
  // Since they were looked up some may have been cancelled, moved to another plan or brought in step by somebody else.
  const present = [...rows.values()].filter(
    (row) =>
      row.planId === set.planId &&
      row.syncedPriceSequence < set.targetSequence &&
      syncedStatuses.some((status) => status === row.status),
  );
  const changes = present.map((row): Change => {
    const decision = decidePriceSync({
      subscription: row,
      prices,
      lineItems: lineItems.get(row.id) ?? [],
      overriddenRootIds: overridden.get(row.id) ?? new Set(),
      targetSequence: set.targetSequence,
    });
    return { row, decision, isVisible: decision.createPriceIds.length + decision.terminate.length > 0 };
  });
  const planName = await readPlanName(sql, scope, set.planId);
  const items = changes.flatMap(({ row, decision }) => {
    const wanted = decision.createPriceIds.map((priceId) => pricesById.get(priceId) as PlanPrice);
    return lineItemsOf(scope, row, planName, wanted);
  });
  return { changes, items };
}

async function advanceSequences(sql: Sql, scope: Scope, changes: readonly Change[]): Promise<void> {
  await sql.rows(
    `update subscription s set synced_price_sequence = t.sequence, version = s.version + t.step,
       updated_at = case t.step when 0 then s.updated_at else $5 end, updated_by = case t.step when 0 then s.updated_by else $6 end
     from unnest($2::text[], $3::bigint[], $4::int[]) as t(id, sequence, step) where s.environment_id = $1 and s.id = t.id`,
    [
      scope.environmentId,
      changes.map(({ row }) => row.id),
      changes.map(({ decision }) => decision.syncedPriceSequence),
      changes.map(({ isVisible }) => (isVisible ? 1 : 0)),
      new Date().toISOString(),
      scope.actor,
    ],
  );
}

/** A line item added or ended is `subscription.updated`. spec: platform §17.3 */
async function tell(sql: Sql, scope: Scope, set: SyncSet, changes: readonly Change[]): Promise<void> {
  const visible = changes.filter(({ isVisible }) => isVisible);
  const clocks = await readClocks(
    sql,
    scope,
    visible.map(({ row }) => row.testClockId),
  );
  const now = new Date().toISOString();
  const at = (row: SubscriptionRow) => clocks.get(row.testClockId ?? '') ?? now;
  await writeAudit(
    sql,
    scope,
    visible.map(({ row, decision }) => ({
      objectType: 'subscription',
      objectId: row.id,
      action: 'prices synced',
      version: row.version + 1,
      occurredAt: at(row),
      detail: {
        price_sync_id: set.syncId,
        created: decision.createPriceIds,
        terminated: decision.terminate.map(({ lineItemId }) => lineItemId),
      },
    })),
  );
  await writeEvents(
    sql,
    scope,
    visible.map(({ row }) => subscriptionEvent('subscription.updated', row, at(row))),
  );
}

async function readLineItems(sql: Sql, scope: Scope, subscriptionIds: readonly string[], priceIds: string[]) {
  const rows = await sql.rows<{
    id: string;
    subscription_id: string;
    price_id: string;
    start_date: string;
    end_date: string | null;
  }>(
    `select id, subscription_id, price_id, start_date, end_date from subscription_line_item
     where environment_id = $1 and subscription_id = any($2) and price_id = any($3)`,
    [scope.environmentId, [...subscriptionIds], priceIds],
  );
  const items = rows.map((row): SyncedLineItem & { subscriptionId: string } => ({
    id: row.id,
    subscriptionId: row.subscription_id,
    priceId: row.price_id,
    startDate: instantText(row.start_date),
    endDate: row.end_date ? instantText(row.end_date) : null,
  }));
  return Map.groupBy(items, (item) => item.subscriptionId);
}

/** The parents of the prices that subscriptions have of their own, by subscription. */
async function readOverridden(sql: Sql, scope: Scope, subscriptionIds: readonly string[]) {
  const rows = await sql.rows<{ entity_id: string; parent_price_id: string }>(
    `select entity_id, parent_price_id from price where environment_id = $1 and entity_type = 'SUBSCRIPTION' and entity_id = any($2)
       and status = 'published' and parent_price_id is not null and not exists (
         select from subscription_line_item l join subscription_phase f on f.id = l.subscription_phase_id
         where l.environment_id = price.environment_id and l.price_id = price.id and (f.started_at is null or f.ended_at is not null))`,
    [scope.environmentId, [...subscriptionIds]],
  );
  const grouped = Map.groupBy(rows, (row) => row.entity_id);
  return new Map([...grouped].map(([id, own]) => [id, new Set(own.map((row) => row.parent_price_id))]));
}

async function readPlanName(sql: Sql, scope: Scope, planId: string): Promise<string> {
  const [plan] = await sql.rows<{ name: string }>('select name from plan where environment_id = $1 and id = $2', [
    scope.environmentId,
    planId,
  ]);
  return plan?.name ?? '';
}

async function readClocks(sql: Sql, scope: Scope, ids: readonly (string | null)[]): Promise<Map<string, string>> {
  const known = [...new Set(ids.filter((id) => id !== null))];
  if (known.length === 0) return new Map();
  const rows = await sql.rows<{ id: string; frozen_time: string }>(
    'select id, frozen_time from test_clock where environment_id = $1 and id = any($2)',
    [scope.environmentId, known],
  );
  return new Map(rows.map((row) => [row.id, instantText(row.frozen_time)]));
}

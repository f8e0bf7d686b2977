import { creditedBy } from '../../../billing/invoice/carried-credit.ts';
import { type Preview, refuseDifferent } from '../../../billing/line/binding-preview.ts';
import { refuseInherited } from '../../../billing/subscription/hierarchy.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import {
  orConflict,
  previewDigest,
  promisedLines,
  promisedPreview,
  requestDigest,
  usageWatermark,
} from '../../lifecycle/preview-digest.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { SubscriptionEventType } from '../../platform/event-catalogue/subscription-events.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { followParents } from '../family/subscription-follow.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { type Beside, changeRead } from './subscription-change-read.ts';

/** A change that is asked of a subscription. */
export interface ChangeOrder {
  /** Made by the request: the same change again is answered from its record. */
  changeId: string;
  subscriptionId: string;
  at: string;
  /** What a preview gave: then exactly that is done, or nothing. */
  previewDigest?: string | null;
  /** True for a preview, which is undone after it was read: the outcome gets the digest. */
  previews?: boolean;
  /** Subscriptions that the change looks at besides its own and the children of it. */
  looksAt?: Beside;
}

export type LineItemAction = 'created' | 'updated' | 'ended';

/** What a change made, with the ids under which it can be read. */
export interface ChangeOutcome {
  lineItems: { id: string; action: LineItemAction }[];
  /** Subscriptions beside the changed one. */
  subscriptionIds: string[];
  invoiceIds: string[];
  /** What went to the prepaid wallet; `0` when nothing did. */
  returned: string;
  /** What the next invoice takes off; `0` when nothing, absent in outcomes of before. */
  carried?: string;
  /** What the answer of this kind of change shows besides. */
  detail: Record<string, unknown>;
  /** Of a preview. */
  previewDigest?: string;
}

/** A change that was decided and written, but for the subscription's own row. */
export interface Decided extends ChangeOutcome {
  /** As it shall be, its version not yet counted up. */
  row: SubscriptionRow;
  kind: string;
  /** In words, for the audit. */
  action: string;
  effectiveAt: string;
  /** After `subscription.updated`. */
  events: SubscriptionEventType[];
  /** True when row, events and audit were written by the step the change consists of. */
  isWritten?: boolean;
  plans?: { from: string; to: string };
  successorId?: string;
}

export const nothingMade = (): ChangeOutcome => ({
  lineItems: [],
  subscriptionIds: [],
  invoiceIds: [],
  returned: '0',
  carried: '0',
  detail: {},
});

/**
 * Carries a change out in the caller's transaction: locks the subscription, lets `decide` do the work, and writes row, event,
 * audit, record and agenda. With a digest the change takes the previewed present for its own, and what it made is compared
 * with what was promised: another result throws `version_conflict` and undoes all. A change that `decide` answers with null
 * changed nothing. Throws `not_found`. spec: subscriptions-and-invoicing §1.7–§1.9; docs: previews.md
 */
export async function carryOut(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  request: unknown,
  decide: (before: SubscriptionRow, at: string) => Promise<Decided | null>,
): Promise<AttendedSubscription> {
  const { environmentId } = scope;
  const before = (await lockSubscriptions(sql, environmentId, [order.subscriptionId])).get(order.subscriptionId);
  if (!before) throw missing('subscription', order.subscriptionId);
  if (await findChange(sql, environmentId, order.changeId)) return one(await readAgendas(sql, environmentId, [before]));
  refuseInherited(before, 'changed');
  const promised = promisedPreview(order.previewDigest, order.at);
  const at = promised?.at ?? order.at;
  const compares = promised !== null || order.previews === true;
  const { targetPlanId } = request as { targetPlanId?: string };
  const read = compares ? await changeRead(sql, environmentId, before, order.looksAt, targetPlanId) : {};
  const asked = { read, request: requestDigest(request) };
  const decided = await orConflict(promised, asked, () => decide(before, at));
  const outcome = outcomeOf(decided);
  if (compares) {
    const present = await previewOf(sql, scope, { before, at, asked, outcome });
    if (promised) refuseDifferent(promised, present);
    else outcome.previewDigest = previewDigest(present);
  }
  const row = decided ? (decided.isWritten ? decided.row : { ...decided.row, version: before.version + 1 }) : before;
  if (decided && !decided.isWritten) await writeChanged(sql, scope, row, decided, at);
  await writeChange(sql, scope, order, decided, outcome, at);
  return one(await refreshAgendas(sql, environmentId, [row]));
}

function outcomeOf(decided: Decided | null): ChangeOutcome {
  if (!decided) return nothingMade();
  const { lineItems, subscriptionIds, invoiceIds, returned, carried = '0', detail } = decided;
  return { lineItems, subscriptionIds, invoiceIds, returned, carried, detail };
}

async function writeChanged(sql: Sql, scope: Scope, row: SubscriptionRow, decided: Decided, at: string): Promise<void> {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  const names: SubscriptionEventType[] = ['subscription.updated', ...decided.events];
  await writeEvents(
    sql,
    scope,
    names.map((name) => subscriptionEvent(name, row, at)),
  );
  const credited = creditedBy({ returned: decided.returned, carried: decided.carried ?? '0' });
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: decided.action,
      version: row.version,
      occurredAt: at,
      detail: { ...decided.detail, effective_at: decided.effectiveAt, invoice_ids: decided.invoiceIds, ...credited },
    },
  ]);
  await followParents(sql, scope, [{ row, at }]);
}

async function writeChange(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  decided: Decided | null,
  outcome: ChangeOutcome,
  at: string,
): Promise<void> {
  await sql.rows(
    `insert into subscription_change (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id, kind,
       effective_at, from_plan_id, to_plan_id, successor_subscription_id, attended, outcome)
     values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      order.changeId,
      scope.tenantId,
      scope.environmentId,
      new Date().toISOString(),
      scope.actor,
      order.subscriptionId,
      decided?.kind ?? 'none',
      decided?.effectiveAt ?? at,
      decided?.plans?.from ?? null,
      decided?.plans?.to ?? null,
      decided?.successorId ?? null,
      decided?.successorId === undefined,
      JSON.stringify(outcome),
    ],
  );
}

/** What a change made; null for one that was not carried out. */
export async function findChange(
  sql: Sql,
  environmentId: string,
  changeId: string,
): Promise<(ChangeOutcome & { effectiveAt: string }) | null> {
  const [row] = await sql.rows<{ outcome: ChangeOutcome; effective_at: string }>(
    'select outcome, effective_at from subscription_change where environment_id = $1 and id = $2',
    [environmentId, changeId],
  );
  return row ? { ...row.outcome, effectiveAt: new Date(row.effective_at).toISOString() } : null;
}

async function previewOf(
  sql: Sql,
  scope: Scope,
  read: { before: SubscriptionRow; at: string; asked: Pick<Preview, 'read' | 'request'>; outcome: ChangeOutcome },
): Promise<Preview> {
  const { before, at, asked, outcome } = read;
  return {
    at,
    ...asked,
    usage: await usageWatermark(sql, scope.environmentId, outcome.invoiceIds),
    lines: await promisedLines(sql, scope.environmentId, { ...outcome, currency: before.currency }),
  };
}

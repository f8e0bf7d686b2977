import { refuse } from '../../../billing/refusal.ts';
import { refuseChild, refuseInherited } from '../../../billing/subscription/hierarchy.ts';
import {
  cancelSubscription as decideCancellation,
  keepSubscription,
} from '../../../billing/subscription/subscription-cancel.ts';
import type { SubscriptionUpdate } from '../../../billing/subscription/subscription-command.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { type AuditRecord, writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { cancelSchedule, pendingCancellation } from '../plan-change/subscription-schedule-cancel.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { cancelSubscription } from './subscription-cancel.ts';

export interface UpdateInput extends SubscriptionUpdate {
  subscriptionId: string;
  at: string;
}

/**
 * Updates a subscription: metadata, its end, its parent. What is there already changes nothing and emits nothing.
 * spec: subscriptions-and-invoicing §1.4
 */
export async function updateSubscription(
  sql: Sql,
  scope: Scope,
  input: UpdateInput,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const before = await locked(sql, scope, input.subscriptionId);
  if (input.subscriptionStatus && input.subscriptionStatus !== before.status) {
    throw badField(
      'subscription_status',
      `must be ${before.status}, which the subscription is; pause, resume, activate and cancel have operations of their own`,
    );
  }
  if (input.cancelAtPeriodEnd !== undefined) refuseInherited(before, 'cancelled');
  if (input.cancelAt !== undefined) refuseChild(before, 'cancelled at a date');
  if (input.cancelAtPeriodEnd !== undefined && input.cancelAtPeriodEnd !== before.cancelAtPeriodEnd) {
    await changePeriodEnd(sql, scope, input, readUsage);
  }
  const present = await locked(sql, scope, input.subscriptionId);
  const parentSubscriptionId = await changedParent(sql, scope, present, input.parentSubscriptionId);
  const row = {
    ...(await withCancelAt(sql, scope, present, input)),
    parentSubscriptionId,
    ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
  };
  if (isSame(present, row)) return one(await readAgendas(sql, scope.environmentId, [present]));
  return writeUpdate(sql, scope, present, { ...row, version: present.version + 1 }, input.at);
}

async function locked(sql: Sql, scope: Scope, id: string): Promise<SubscriptionRow> {
  const row = (await lockSubscriptions(sql, scope.environmentId, [id])).get(id);
  if (!row) throw missing('subscription', id);
  return row;
}

/** True is a cancellation with end_of_period, false takes it back. */
async function changePeriodEnd(sql: Sql, scope: Scope, input: UpdateInput, readUsage: UsageReader): Promise<void> {
  const { subscriptionId, at } = input;
  if (input.cancelAtPeriodEnd) {
    const end = { cancellationType: 'end_of_period', cancelAt: null, invoicePolicy: 'skip' } as const;
    await cancelSubscription(
      sql,
      scope,
      { subscriptionId, at, ...end, prorationBehavior: 'none', reason: '' },
      readUsage,
    );
    return;
  }
  const scheduleId = await pendingCancellation(sql, scope.environmentId, subscriptionId);
  if (scheduleId) await cancelSchedule(sql, scope, { subscriptionId, scheduleId, at });
}

async function withCancelAt(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { cancelAt, at }: UpdateInput,
): Promise<SubscriptionRow> {
  if (cancelAt === undefined || cancelAt === row.cancelAt) return row;
  const scheduleId = await pendingCancellation(sql, scope.environmentId, row.id);
  if (scheduleId) {
    throw refuse('validation_error', `schedule ${scheduleId} ends the subscription; cancel that schedule first`, {
      fields: { cancel_at: 'a cancellation is scheduled' },
    });
  }
  if (cancelAt === null) return { ...row, ...keepSubscription(row, { cancelAt: null, endDate: null }) };
  const { state } = decideCancellation(row, { cancellationType: 'scheduled_date', cancelAt }, at, false);
  return { ...row, ...state };
}

/** The parent as asked for; the present one where nothing is. spec: §1.4 parent_subscription_id */
async function changedParent(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  parentId: string | undefined,
): Promise<string | null> {
  if (parentId === undefined || (row.parentSubscriptionId ?? '') === parentId) return row.parentSubscriptionId;
  const field = 'parent_subscription_id';
  if (row.subscriptionType !== 'standalone') {
    throw badField(field, `can only be set on a standalone subscription; this one is ${row.subscriptionType}`);
  }
  if (parentId === '') return null;
  if (parentId === row.id) throw badField(field, 'must name another subscription');
  const [parent] = await sql.rows<{ subscription_status: string }>(
    `select subscription_status from subscription where environment_id = $1 and id = $2 and status = 'published'`,
    [scope.environmentId, parentId],
  );
  if (!parent) throw missing('subscription', parentId, field);
  if (parent.subscription_status !== 'active') {
    throw badField(field, `must name an active subscription; ${parentId} is ${parent.subscription_status}`);
  }
  return parentId;
}

async function writeUpdate(
  sql: Sql,
  scope: Scope,
  before: SubscriptionRow,
  row: SubscriptionRow,
  at: string,
): Promise<AttendedSubscription> {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, at)]);
  const { parentSubscriptionId: parent } = row;
  const record: AuditRecord = {
    objectType: 'subscription',
    objectId: row.id,
    action: 'updated',
    version: row.version,
    occurredAt: at,
    detail: {
      cancel_at: row.cancelAt,
      ...(parent === before.parentSubscriptionId ? {} : { parent_subscription_id: parent }),
    },
  };
  await writeAudit(sql, scope, [record]);
  await followParents(sql, scope, [{ row, at }]);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}

function isSame(before: SubscriptionRow, after: SubscriptionRow): boolean {
  const same = (['cancelAt', 'endDate', 'parentSubscriptionId'] as const).every((key) => before[key] === after[key]);
  const keys = Object.keys(before.metadata);
  return (
    same &&
    keys.length === Object.keys(after.metadata).length &&
    keys.every((key) => before.metadata[key] === after.metadata[key])
  );
}

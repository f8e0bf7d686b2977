import { settleOpening } from '../../../billing/subscription/subscription.ts';
import { renewalNoticeAt } from '../../../billing/subscription/subscription-agenda.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { SubscriptionEventType } from '../../platform/event-catalogue/subscription-events.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { followParents } from '../family/subscription-follow.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { releaseGrants } from './subscription-grant.ts';

interface Moment {
  subscriptionId: string;
  at: string;
}

/** Sends `subscription.renewal.due` once per period, 24 hours before it ends. spec: subscriptions-and-invoicing §2.14.2 */
export async function noticeRenewals(
  sql: Sql,
  scope: Scope,
  moments: readonly Moment[],
): Promise<AttendedSubscription[]> {
  return changeEach(sql, scope, moments, (row, at) => {
    const due = renewalNoticeAt(row, row.renewalNoticedFor);
    if (due === null || due > at) return null;
    return {
      row: { ...row, renewalNoticedFor: row.currentPeriodEnd, version: row.version + 1 },
      action: 'renewal noticed',
      event: 'subscription.renewal.due',
    };
  });
}

/** Makes an incomplete subscription whose opening invoice is paid active. spec: subscriptions-and-invoicing §2.4 */
export async function activateSubscriptions(
  sql: Sql,
  scope: Scope,
  moments: readonly Moment[],
): Promise<AttendedSubscription[]> {
  return changeEach(sql, scope, moments, (row) => {
    const settled = settleOpening(row);
    if (settled.status === row.status) return null;
    return {
      row: { ...row, ...settled, version: row.version + 1 },
      action: 'activated',
      event: 'subscription.activated',
    };
  });
}

interface Change {
  row: SubscriptionRow;
  action: string;
  event: SubscriptionEventType;
}

async function changeEach(
  sql: Sql,
  scope: Scope,
  moments: readonly Moment[],
  decide: (row: SubscriptionRow, at: string) => Change | null,
): Promise<AttendedSubscription[]> {
  const rows = await lockSubscriptions(
    sql,
    scope.environmentId,
    moments.map((moment) => moment.subscriptionId),
  );
  const changes = moments.flatMap(({ subscriptionId, at }) => {
    const row = rows.get(subscriptionId);
    const change = row ? decide(row, at) : null;
    return change ? [{ ...change, at }] : [];
  });
  await writeRows(
    sql,
    updateSubscriptions,
    changes.map(({ row }) => subscriptionRecord(row, scope.actor, new Date().toISOString())),
  );
  await writeEvents(
    sql,
    scope,
    changes.map(({ row, event, at }) => subscriptionEvent(event, row, at)),
  );
  await writeAudit(
    sql,
    scope,
    changes.map(({ row, action, at }) => ({
      objectType: 'subscription',
      objectId: row.id,
      action,
      version: row.version,
      occurredAt: at,
    })),
  );
  for (const { row, action, at } of changes) if (action === 'activated') await releaseGrants(sql, scope, row.id, at);
  await followParents(sql, scope, changes);
  const changed = changes.map(({ row }) => row);
  const untouched = [...rows.values()].filter((row) => !changed.some((other) => other.id === row.id));
  return [
    ...(await refreshAgendas(sql, scope.environmentId, changed)),
    ...(await readAgendas(sql, scope.environmentId, untouched)),
  ];
}

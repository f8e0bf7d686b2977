import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type SubscriptionRow, subscriptionRecord, updateSubscriptions } from '../../charging/subscription-row.ts';
import { refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { SubscriptionEventType } from '../../platform/event-catalogue/subscription-events.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

/** One thing that happened to several subscriptions at an instant. */
export interface SharedChange {
  action: string;
  at: string;
  /** What is told of each besides `subscription.updated`. */
  event?: SubscriptionEventType;
  detail(row: SubscriptionRow): Record<string, unknown>;
}

/** Writes subscriptions that changed alike, with events, audit and agendas. spec: platform §17.3 */
export async function writeChanged(
  sql: Sql,
  scope: Scope,
  rows: readonly SubscriptionRow[],
  { action, at, event, detail }: SharedChange,
): Promise<void> {
  if (rows.length === 0) return;
  const now = new Date().toISOString();
  await writeRows(
    sql,
    updateSubscriptions,
    rows.map((row) => subscriptionRecord(row, scope.actor, now)),
  );
  const names: SubscriptionEventType[] = ['subscription.updated', ...(event ? [event] : [])];
  await writeEvents(
    sql,
    scope,
    rows.flatMap((row) => names.map((name) => subscriptionEvent(name, row, at))),
  );
  await writeAudit(
    sql,
    scope,
    rows.map((row) => ({
      objectType: 'subscription',
      objectId: row.id,
      action,
      version: row.version,
      occurredAt: at,
      detail: detail(row),
    })),
  );
  await refreshAgendas(sql, scope.environmentId, rows);
}

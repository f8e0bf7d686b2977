import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { phaseEvent } from '../../charging/subscription-phase.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';

/**
 * Ends the phases of ended subscriptions with them: what runs ends there, what has not started is deleted and never comes. What
 * ended before stays. spec: subscriptions-and-invoicing §2.9.5, §2.12
 */
export async function cutPhases(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  const rows = await sql.rows<{
    id: string;
    subscription_id: string;
    status: string;
    start_date: string;
    end_date: string | null;
    at: string;
  }>(
    `update subscription_phase f set status = case when f.started_at is null then 'deleted' else f.status end,
       end_date = case when f.started_at is null then f.end_date else greatest(f.start_date, t.at) end,
       ended_at = case when f.started_at is null then null else t.at end, updated_at = $4, updated_by = $5
     from unnest($2::text[], $3::timestamptz[]) as t(subscription_id, at)
     where f.environment_id = $1 and f.subscription_id = t.subscription_id and f.status = 'published'
       and (f.started_at is null or f.end_date is null or f.end_date > t.at)
     returning f.id, f.subscription_id, f.status, f.start_date, f.end_date, t.at`,
    [
      scope.environmentId,
      ended.map((end) => end.subscriptionId),
      ended.map((end) => end.at),
      new Date().toISOString(),
      scope.actor,
    ],
  );
  const cut = rows
    .map((row) => ({
      id: row.id,
      subscriptionId: row.subscription_id,
      name: row.status === 'deleted' ? ('deleted' as const) : ('updated' as const),
      start: instantText(row.start_date),
      end: row.end_date === null ? null : instantText(row.end_date),
      at: instantText(row.at),
    }))
    .sort((a, b) => (a.start < b.start ? -1 : 1));
  await writeEvents(
    sql,
    scope,
    cut.map((phase) => phaseEvent(phase.name, phase, phase.at)),
  );
  await writeAudit(
    sql,
    scope,
    cut.map(({ id, name, at, end }) => ({
      objectType: 'subscription_phase',
      objectId: id,
      action: name === 'deleted' ? 'deleted' : 'ended',
      occurredAt: at,
      detail: { end_date: end },
    })),
  );
}

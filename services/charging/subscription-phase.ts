import type { Phase } from '../../billing/subscription/phase.ts';
import { type PhaseTerms, SubscriptionPhase } from '../../db/entities/subscription/subscription-phase.ts';
import { instantText } from '../../db/rows/columns.ts';
import { badField } from '../../db/rows/record.ts';
import type { Sql, Transaction } from '../../db/transaction.ts';
import type { PhaseEvent } from '../platform/event-catalogue/subscription-events.ts';

/** A phase with what it does to the line items. */
export type PhaseRow = Phase & { terms: PhaseTerms };

/** The phases of the subscription `s` that time has something to bring to, beside those that follow them; null for none. */
export const phasesText = `(select jsonb_agg(jsonb_build_object('id', f.id, 'start', f.start_date, 'end', f.end_date, 'startedAt', f.started_at,
    'endedAt', f.ended_at)) from subscription_phase f
    where f.environment_id = s.environment_id and f.subscription_id = s.id and f.status = 'published' and f.ended_at is null)`;

/** What `phasesText` gave, as the rules take it. */
export function phasesOfRow(rows: readonly Phase[] | null): Phase[] {
  return (rows ?? []).map(({ id, start, end, startedAt, endedAt }) => ({
    id,
    start: instantText(start),
    end: end === null ? null : instantText(end),
    startedAt: startedAt === null ? null : instantText(startedAt),
    endedAt: endedAt === null ? null : instantText(endedAt),
  }));
}

/** The phases of a subscription in their order. spec: subscriptions-and-invoicing §2.9.5 */
export async function readPhases(sql: Sql, environmentId: string, subscriptionId: string): Promise<PhaseRow[]> {
  const rows = await sql.rows<{
    id: string;
    start_date: string;
    end_date: string | null;
    started_at: string | null;
    ended_at: string | null;
    terms: PhaseTerms;
  }>(
    `select id, start_date, end_date, started_at, ended_at, terms from subscription_phase
     where environment_id = $1 and subscription_id = $2 and status = 'published' order by start_date`,
    [environmentId, subscriptionId],
    'phases',
  );
  const maybe = (instant: string | null) => (instant === null ? null : instantText(instant));
  return rows.map((row) => ({
    id: row.id,
    start: instantText(row.start_date),
    end: maybe(row.end_date),
    startedAt: maybe(row.started_at),
    endedAt: maybe(row.ended_at),
    terms: row.terms,
  }));
}

/** The phase of a subscription that a request names. Throws `validation_error` for one it does not have. */
export async function phaseOf(
  sql: Sql,
  environmentId: string,
  subscriptionId: string,
  phaseId: string,
): Promise<PhaseRow> {
  const phase = (await readPhases(sql, environmentId, subscriptionId)).find(({ id }) => id === phaseId);
  if (phase) return phase;
  throw badField('subscription_phase_id', `names ${phaseId}, which is no phase of subscription ${subscriptionId}`);
}

/** The phases of subscriptions with everything their view shows, in their order, by subscription id. */
export async function phasesOf(
  tx: Transaction,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionPhase[]>> {
  const rows = await tx.em.find(
    SubscriptionPhase,
    { environmentId: tx.scope.environmentId, subscriptionId: { $in: [...subscriptionIds] }, status: 'published' },
    { orderBy: { startDate: 'asc' } },
  );
  return Map.groupBy(rows, (row) => row.subscriptionId);
}

/** An event of a phase with the object of the envelope. spec: platform §17.2 */
export function phaseEvent(
  name: 'created' | 'updated' | 'deleted',
  phase: { id: string; subscriptionId: string; start: string; end: string | null },
  occurredAt: string,
): PhaseEvent {
  return {
    name: `subscription.phase.${name}`,
    entityType: 'phase',
    entityId: phase.id,
    occurredAt,
    payload: {
      phase: {
        id: phase.id,
        subscription_id: phase.subscriptionId,
        start_date: phase.start,
        end_date: phase.end,
      },
    },
  };
}

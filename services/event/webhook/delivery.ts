import { firstIdAt, newId } from '../../../db/id.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql, Sql } from '../../../db/transaction.ts';

const prefix = 'wdl';

/** An attempt to deliver an event, as it is kept. */
export interface Delivery {
  eventId: string;
  /** Counted from 1. */
  attempt: number;
  attemptedAt: string;
  durationMs: number;
  /** Null where nobody answered. */
  statusCode: number | null;
  /** Null where the event was received, else the reason in words of a closed list. */
  error: string | null;
  responseExcerpt: string;
  /** Null where no attempt follows by itself. */
  nextAttemptAt: string | null;
  /** True where the event was sent because somebody asked for it again. */
  isReplay: boolean;
}

/**
 * Keeps attempts of an endpoint in one statement; it may be under way when this returns. Nothing is kept of none.
 * design: people-and-events §B 27
 */
export async function keepDeliveries(
  tx: ScopedSql,
  endpointId: string,
  deliveries: readonly Delivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const { tenantId, environmentId } = tx.scope;
  const columns = [
    deliveries.map(() => newId(prefix)),
    deliveries.map((each) => each.eventId),
    deliveries.map((each) => each.attempt),
    deliveries.map((each) => each.attemptedAt),
    deliveries.map((each) => each.durationMs),
    deliveries.map((each) => each.statusCode),
    deliveries.map((each) => each.error),
    deliveries.map((each) => each.responseExcerpt),
    deliveries.map((each) => each.nextAttemptAt),
    deliveries.map((each) => each.isReplay),
  ];
  await tx.send(keepText, [tenantId, environmentId, endpointId, ...columns], 'webhook-deliveries');
}

/** Attempts to deliver an event as they are read: to which endpoint, and when. */
export type KeptDelivery = Delivery & { endpointId: string };

/** Attempts to deliver an event of this environment, the first one first, and the count of all of them; of one endpoint where it is named. */
export async function deliveriesOf(
  tx: ScopedSql,
  { eventId, endpointId, limit, offset }: { eventId: string; endpointId: string | null; limit: number; offset: number },
): Promise<{ rows: KeptDelivery[]; total: number }> {
  const which = [tx.scope.environmentId, eventId, endpointId];
  const [counted] = await tx.rows<{ total: number }>(`select count(*)::int as total ${ofEventText}`, which);
  const rows = await tx.rows<KeptDelivery>(`${readText} ${ofEventText} order by id limit $4 offset $5`, [
    ...which,
    limit,
    offset,
  ]);
  return {
    total: counted?.total ?? 0,
    rows: rows.map((row) => ({
      ...row,
      attemptedAt: instantText(row.attemptedAt),
      nextAttemptAt: row.nextAttemptAt && instantText(row.nextAttemptAt),
    })),
  };
}

/** Days for which attempts are kept. design: people-and-events §B 26 */
const keptDays = 30;
const dayMs = 86_400_000;
const forgottenAtOnce = 10_000;

/** Forgets attempts of every environment that are older than 30 days at `now`, the oldest 10 000 at once. Answers how many they were. */
export async function forgetDeliveries(sql: Sql, now: string): Promise<number> {
  const before = firstIdAt(prefix, Date.parse(now) - keptDays * dayMs);
  const [forgotten] = await sql.rows<{ count: number }>(forgetText, [before, forgottenAtOnce]);
  return forgotten?.count ?? 0;
}

const keepText = `
insert into webhook_delivery (id, tenant_id, environment_id, endpoint_id, event_id, attempt, attempted_at, duration_ms, status_code, error, response_excerpt, next_attempt_at, is_replay)
select t.id, $1, $2, $3, t.event_id, t.attempt, t.attempted_at, t.duration_ms, t.status_code, t.error, t.response_excerpt, t.next_attempt_at, t.is_replay
from unnest($4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::int[], $9::int[], $10::text[], $11::text[], $12::timestamptz[], $13::boolean[])
  as t(id, event_id, attempt, attempted_at, duration_ms, status_code, error, response_excerpt, next_attempt_at, is_replay)`;

const readText = `
select endpoint_id as "endpointId", event_id as "eventId", attempt, attempted_at as "attemptedAt", duration_ms as "durationMs",
  status_code as "statusCode", error, response_excerpt as "responseExcerpt", next_attempt_at as "nextAttemptAt",
  is_replay as "isReplay"`;

const ofEventText = `
from webhook_delivery where environment_id = $1 and event_id = $2 and ($3::text is null or endpoint_id = $3)`;

const forgetText = `
with forgotten as (
  delete from webhook_delivery where id in (select id from webhook_delivery where id < $1 order by id limit $2) returning id)
select count(*)::int as count from forgotten`;

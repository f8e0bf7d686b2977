import type { NotificationMarker } from '../../db/entities/integration/notification-marker.ts';
import { newId } from '../../db/id.ts';
import type { ScopedSql, Sql } from '../../db/transaction.ts';

/** A verified notification. */
export interface NewNotification {
  connectionId: string;
  provider: string;
  /** The provider's own id of the event, or of one that cannot be read the digest of its bytes. */
  providerEventId: string;
  eventType: string;
  marker: NotificationMarker | null;
  providerIds: readonly string[];
  /** Without credentials. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  receivedAt: string;
  /** Set for one that is passed on to nobody: why. */
  outcome: 'unreadable' | 'ignored' | null;
}

/**
 * Keeps notifications, each once, in one statement. One that was kept before stays as it is. Until it is done it is work of its
 * connection's workflow. spec: platform §16; design: money-in-checkout §A13
 */
export async function keepNotifications(tx: ScopedSql, notifications: readonly NewNotification[]): Promise<void> {
  const { tenantId, environmentId } = tx.scope;
  const columns = notifications.map((one) => [
    newId('inev'),
    one.connectionId,
    one.provider,
    one.providerEventId,
    one.eventType,
    JSON.stringify(one.marker),
    JSON.stringify(one.providerIds),
    JSON.stringify(one.headers),
    one.body,
    one.receivedAt,
    one.outcome,
  ]);
  const values = (columns[0] ?? []).map((_, column) => columns.map((row) => row[column]));
  await tx.send(keepText, [tenantId, environmentId, ...values], 'inbound-keep');
}

const keepText = `
insert into inbound_event (id, tenant_id, environment_id, connection_id, provider, provider_event_id, event_type, marker, provider_ids, headers,
  body, received_at, due_at, outcome, done_at)
select n.id, $1, $2, n.connection_id, n.provider, n.provider_event_id, n.event_type, nullif(n.marker, 'null'),
  array(select jsonb_array_elements_text(n.provider_ids)), n.headers, n.body, n.received_at,
  case when n.outcome is null then n.received_at end, n.outcome, case when n.outcome is not null then n.received_at end
from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::jsonb[], $10::jsonb[], $11::bytea[], $12::timestamptz[],
    $13::text[])
  as n(id, connection_id, provider, provider_event_id, event_type, marker, provider_ids, headers, body, received_at, outcome)
order by n.connection_id, n.provider_event_id
on conflict (environment_id, connection_id, provider_event_id) do nothing`;

/** A notification that is to be passed on. */
export interface OpenNotification {
  id: string;
  provider: string;
  eventType: string;
  marker: NotificationMarker | null;
  providerIds: string[];
  receivedAt: string;
  attempt: number;
}

/** Notifications of a connection that are due at `now`, the oldest first. */
export async function dueNotifications(
  tx: ScopedSql,
  connectionId: string,
  now: string,
  limit: number,
): Promise<OpenNotification[]> {
  return tx.rows<OpenNotification & Record<string, unknown>>(
    `select id, provider, event_type as "eventType", marker, provider_ids as "providerIds", received_at as "receivedAt", attempt
     from inbound_event where environment_id = $1 and connection_id = $2 and done_at is null and due_at <= $3
     order by due_at, id limit $4`,
    [tx.scope.environmentId, connectionId, now, limit],
  );
}

/** Connections with notifications that have been due since before an instant. */
export async function overdueInboxes(
  sql: Sql,
  before: string,
): Promise<{ tenantId: string; environmentId: string; connectionId: string }[]> {
  return sql.rows(
    `select distinct tenant_id as "tenantId", environment_id as "environmentId", connection_id as "connectionId"
     from inbound_event where done_at is null and due_at < $1 limit 200`,
    [before],
  );
}

/** Fate of a notification after a look at it. */
export interface NotificationFate {
  id: string;
  /** Null while it is to be looked at again, at `dueAt`. */
  outcome: 'passed_on' | 'settled' | 'not_ours' | 'unmatched' | null;
  dueAt: string | null;
  objectType: string | null;
  objectId: string | null;
}

/** Writes down what became of notifications, and answers when the next one of the connection is due; null when none is open. */
export async function settleNotifications(
  tx: ScopedSql,
  connectionId: string,
  fates: readonly NotificationFate[],
  now: string,
): Promise<string | null> {
  const { environmentId } = tx.scope;
  await tx.send(
    `update inbound_event e set outcome = f.outcome, due_at = f.due_at, object_type = f.object_type, object_id = f.object_id,
       attempt = e.attempt + case when f.outcome is null then 1 else 0 end, done_at = case when f.outcome is not null then $8::timestamptz end
     from unnest($3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[]) as f(id, outcome, due_at, object_type, object_id)
     where e.environment_id = $1 and e.connection_id = $2 and e.id = f.id and e.done_at is null`,
    [
      environmentId,
      connectionId,
      fates.map(({ id }) => id),
      fates.map(({ outcome }) => outcome),
      fates.map(({ dueAt }) => dueAt),
      fates.map(({ objectType }) => objectType),
      fates.map(({ objectId }) => objectId),
      now,
    ],
  );
  const [next] = await tx.rows<{ due_at: string | null }>(
    `select min(due_at) as due_at from inbound_event where environment_id = $1 and connection_id = $2 and done_at is null`,
    [environmentId, connectionId],
  );
  return next?.due_at ?? null;
}

/** Days for which notifications are kept. spec: platform §16 */
const keptDays = 30;
const forgottenAtOnce = 5_000;

/** Forgets notifications of every environment that came more than 30 days before `now` and are done, the oldest 5000 at once. */
export async function forgetNotifications(sql: Sql, now: string): Promise<void> {
  await sql.send(
    `delete from inbound_event where id in (
       select id from inbound_event where received_at < $1::timestamptz - make_interval(days => $2) and done_at is not null
       order by received_at limit $3)`,
    [now, keptDays, forgottenAtOnce],
  );
}

import { instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';
import type { SealedRow } from './connection-secret.ts';

/** Time between two readings of a provider's event list, and after one that had no answer. design: money-in-checkout §B18 */
const pauseSeconds = 3_600;
const pauseAfterFailureSeconds = 600;
/** Events become visible in a list a little later than they happen. */
const overlapMs = 10 * 60_000;
/** Providers keep events for a month. */
const longestMs = 30 * 86_400_000;

/** A connection whose provider is to be asked for its events. */
export interface ListedConnection extends SealedRow {
  provider: string;
  /** Instant from which on events are read. */
  from: string;
}

/**
 * Published connections whose event list is to be read at `now`: an hour after it was read, ten minutes after it was asked for in vain. They
 * count as asked from now on. Reading goes back to what was read before, a month at most.
 */
export async function takeEventLists(
  sql: Sql,
  { providers, now, limit }: { providers: readonly string[]; now: string; limit: number },
): Promise<ListedConnection[]> {
  if (providers.length === 0) return [];
  const rows = await sql.rows<ListedRow>(takeText, [providers, now, pauseSeconds, pauseAfterFailureSeconds, limit]);
  return rows.map((row) => ({
    id: row.id,
    tenantId: row.tenant_id,
    environmentId: row.environment_id,
    secretKeyId: row.secret_key_id,
    secretNonce: row.secret_nonce,
    secretCiphertext: row.secret_ciphertext,
    provider: row.provider_type,
    from: startOf(instantText(row.since), now),
  }));
}

function startOf(since: string, now: string): string {
  const ms = Math.max(Date.parse(since) - overlapMs, Date.parse(now) - longestMs);
  return new Date(ms).toISOString();
}

/** Keeps that the event list of a connection was read as of an instant, and what it showed to be wrong. */
export async function keepReadUntil(
  sql: Sql,
  connectionId: string,
  { until, problem }: { until: string; problem: string | null },
): Promise<void> {
  const text = 'update connection set events_read_until = $2, events_problem = $3 where id = $1';
  await sql.send(text, [connectionId, until, problem]);
}

/** Keeps why the event list of a connection could not be read. */
export async function keepUnread(sql: Sql, connectionId: string, problem: string): Promise<void> {
  await sql.send('update connection set events_problem = $2 where id = $1', [connectionId, problem]);
}

/** Number of events that no notification has told of. */
export async function untoldAmong(sql: Sql, connectionId: string, eventIds: readonly string[]): Promise<number> {
  const [row] = await sql.rows<{ untold: number }>(
    `select count(*)::int as untold from unnest($2::text[]) as e(id)
     where not exists (select from inbound_event i where i.connection_id = $1 and i.provider_event_id = e.id)`,
    [connectionId, eventIds],
  );
  return row?.untold ?? 0;
}

interface ListedRow {
  id: string;
  tenant_id: string;
  environment_id: string;
  provider_type: string;
  secret_key_id: string | null;
  secret_nonce: Buffer | null;
  secret_ciphertext: Buffer | null;
  since: string;
  [column: string]: unknown;
}

const takeText = `
with due as (
  select id from connection
  where status = 'published' and provider_type = any($1) and secret_ciphertext is not null and (events_asked_at is null
    or events_asked_at <= $2::timestamptz - make_interval(secs => case when events_read_until >= events_asked_at then $3::int else $4::int end))
  order by events_asked_at nulls first, id limit $5 for update skip locked)
update connection c set events_asked_at = $2::timestamptz from due where c.id = due.id
returning c.id, c.tenant_id, c.environment_id, c.provider_type, c.secret_key_id, c.secret_nonce, c.secret_ciphertext,
  coalesce(c.events_read_until, c.created_at) as since`;

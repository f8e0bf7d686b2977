import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { PreparedEvent } from '../../event.ts';
import type { RawEventMapping } from '../../raw-event.ts';
import { environmentNumber } from '../environment-number.ts';
import { plainArray, textArray } from '../text/array-text.ts';

/** A foreign object to keep: the key of the event it became, or why it became none. */
export interface NewRawEvent {
  readonly fallbackId: string;
  readonly payloadText: string;
  readonly key: string | null;
  readonly problem: string | null;
}

/** What of the kept objects is to be read again. Instants are RFC 3339 texts; `to` is excluded. */
export interface RawEventQuery {
  readonly from: string;
  readonly to: string;
  readonly pendingOnly: boolean;
  readonly after: string;
  readonly limit: number;
}

export interface RawEventRow {
  readonly seq: string;
  readonly fallbackId: string;
  readonly payloadText: string;
  /** Changes whenever the row does. */
  readonly state: string;
}

/** Keeps foreign objects as they came, in the transaction that stores their events. spec: catalogue-and-metering §6.1 */
export async function keepRawEvents(sql: Sql, scope: Scope, raw: readonly NewRawEvent[]): Promise<void> {
  const env = await environmentNumber(sql, scope);
  await sql.rows(
    `insert into usage.raw_event (env, fallback_id, payload, key, problem)
     select $1, r.fallback_id, r.payload::json, r.key, r.problem
     from unnest($2::text[], $3::text[], $4::uuid[], $5::text[]) with ordinality as r(fallback_id, payload, key, problem, ord) order by r.ord`,
    [
      env,
      textArray(raw.map(({ fallbackId }) => fallbackId)),
      textArray(raw.map(({ payloadText }) => payloadText)),
      plainArray(raw.map(({ key }) => key)),
      textArray(raw.map(({ problem }) => problem)),
    ],
  );
}

/** A page of kept objects in the order they came. */
export async function readRawEvents(sql: Sql, scope: Scope, query: RawEventQuery): Promise<RawEventRow[]> {
  const rows = await sql.rows<{ seq: string; fallback_id: string; payload: string; state: string }>(
    `select seq::text as seq, fallback_id, payload::text as payload, row(key, problem, changed_at)::text as state
     from usage.raw_event
     where env = $1 and seq > $2::bigint and received_at >= $3 and received_at < $4 and (not $5::boolean or key is null)
     order by seq limit $6`,
    [await environmentNumber(sql, scope), query.after, query.from, query.to, query.pendingOnly, query.limit],
  );
  return rows.map((row) => ({
    seq: row.seq,
    fallbackId: row.fallback_id,
    payloadText: row.payload,
    state: row.state,
  }));
}

/** Those of the events whose id has no copy yet. */
export async function unknownEvents(
  sql: Sql,
  scope: Scope,
  events: readonly PreparedEvent[],
): Promise<Set<PreparedEvent>> {
  const rows = await sql.rows<{ key: string }>(
    'select key::text as key from usage.event_key where env = $1 and key = any($2::uuid[])',
    [await environmentNumber(sql, scope), plainArray(events.map(({ key }) => key))],
  );
  const known = new Set(rows.map((row) => row.key));
  return new Set(events.filter(({ key }) => !known.has(key)));
}

/**
 * Notes what became of kept objects. False, with nothing changed, when one of them is no longer in the state it was read
 * in: somebody else read it again meanwhile.
 */
export async function noteRawEvents(
  sql: Sql,
  scope: Scope,
  outcomes: readonly (Pick<RawEventRow, 'seq' | 'state'> & Pick<NewRawEvent, 'key' | 'problem'>)[],
): Promise<boolean> {
  const rows = await sql.rows(
    `update usage.raw_event raw set key = o.key, problem = o.problem, changed_at = clock_timestamp()
     from unnest($2::bigint[], $3::text[], $4::uuid[], $5::text[]) as o(seq, state, key, problem)
     where raw.env = $1 and raw.seq = o.seq and row(raw.key, raw.problem, raw.changed_at)::text = o.state
     returning raw.seq`,
    [
      await environmentNumber(sql, scope),
      plainArray(outcomes.map(({ seq }) => seq)),
      textArray(outcomes.map(({ state }) => state)),
      plainArray(outcomes.map(({ key }) => key)),
      textArray(outcomes.map(({ problem }) => problem)),
    ],
  );
  return rows.length === outcomes.length;
}

const usualMapping: RawEventMapping = {
  event_name: '',
  external_customer_id: '',
  event_id: '',
  timestamp: '',
  source: '',
  properties: '',
};

/** The setting `raw_event_config` of the environment, over its defaults. */
export async function readRawEventMapping(sql: Sql, scope: Scope): Promise<RawEventMapping> {
  const [row] = await sql.rows<{ value: Partial<RawEventMapping> }>(
    `select value from setting where environment_id = $1 and key = 'raw_event_config' and status = 'published'`,
    [scope.environmentId],
  );
  return { ...usualMapping, ...row?.value };
}

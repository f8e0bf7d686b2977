import type { Scope } from '../../../db/scope.ts';
import type { ScopedSql, Sql } from '../../../db/transaction.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import type { PreparedEvent } from '../../event.ts';
import { isUnusableNumber } from '../../quantity.ts';
import type { RejectedEvent, RejectedEventQuery, RejectionReason } from '../../rejected-event.ts';
import type { Catalogue } from '../catalogue-cache.ts';
import { environmentNumber } from '../environment-number.ts';
import { plainArray } from '../text/array-text.ts';
import type { EventContribution } from './batch-columns.ts';
import { utcText } from './stored-event.ts';

/** Events of a batch, or of a part of it whose first has the place `first`, and what meters make of them. */
interface RejectableEvents {
  readonly events: readonly PreparedEvent[];
  readonly contributions: readonly EventContribution[];
  readonly first: number;
}

/**
 * Keeps the events of a batch that no meter counted, with the reason, and tells of them: one outbound event per name and
 * reason an hour. Runs in the transaction of the batch after its events were stored, and costs a statement a batch, not
 * one an event; copies of known ids are no new rejections. spec: catalogue-and-metering §6.6, README decision 22
 */
export async function recordRejected(
  tx: ScopedSql,
  catalogue: Catalogue,
  { events, contributions, first }: RejectableEvents,
): Promise<void> {
  const ignored = await unusedArchivedMeters(tx, catalogue, events);
  const counted = new Set(contributions.filter(({ meter }) => !ignored.has(meter.number)).map(({ ord }) => ord));
  const met = new Set<string>();
  const places = new Map<PreparedEvent, number>();
  for (const [ord, event] of events.entries()) {
    if (met.size !== met.add(event.key).size && !counted.has(ord)) places.set(event, first + ord);
  }
  const rejected = [...places.keys()];
  if (rejected.length === 0) return;
  const reasons = rejected.map(({ eventName }): RejectionReason => {
    const meters = catalogue.metersByEventName.get(eventName) ?? [];
    return meters.some(({ number }) => !ignored.has(number)) ? 'no_matching_meter' : 'no_meter_for_event_name';
  });
  const due = await tx.rows<{ key: string; reason: RejectionReason; ts: string }>(recordText, [
    catalogue.env,
    plainArray(rejected.map(({ key }) => key)),
    plainArray(reasons),
    plainArray([...places.values()]),
  ]);
  if (due.length === 0) return;
  const byKey = new Map(rejected.map((event) => [event.key, event]));
  const customers = await customerIds(
    tx,
    due.flatMap(({ key }) => byKey.get(key)?.externalCustomerId ?? []),
  );
  const occurredAt = new Date().toISOString();
  await writeEvents(
    tx,
    tx.scope,
    due.flatMap(({ key, reason, ts }) => {
      const event = byKey.get(key);
      if (!event) return [];
      const customerId = customers.get(event.externalCustomerId) ?? null;
      const payload = { reason, event: noticeOf(event, customerId, ts) };
      return [{ name: 'event.rejected', entityType: 'event', entityId: event.id, payload, occurredAt }];
    }),
  );
}

/** Archived meters that no open line item uses do not count as a match. spec: catalogue-and-metering §11 */
async function unusedArchivedMeters(
  tx: ScopedSql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
): Promise<ReadonlySet<number>> {
  const names = new Set(events.map(({ eventName }) => eventName));
  const archived = [...names].flatMap((name) =>
    (catalogue.metersByEventName.get(name) ?? []).flatMap(({ number }) =>
      catalogue.archivedMeters.has(number) ? [number] : [],
    ),
  );
  if (archived.length === 0) return new Set();
  const rows = await tx.rows<{ number: number }>(unusedText, [tx.scope.environmentId, archived]);
  return new Set(rows.map(({ number }) => number));
}

async function customerIds(tx: ScopedSql, externalIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.rows<{ external_id: string; id: string }>(
    `select external_id, id from customer where environment_id = $1 and status = 'published' and external_id = any($2)`,
    [tx.scope.environmentId, externalIds],
  );
  return new Map(rows.map((row) => [row.external_id, row.id]));
}

const maxNoticeLength = 65_536;

/** The snapshot that a notice carries. Properties that are too long for one are left out; the event itself has them. */
function noticeOf(event: PreparedEvent, customerId: string | null, timestamp: string) {
  const fits = (event.propertiesText?.length ?? 0) <= maxNoticeLength;
  return {
    id: event.id,
    event_name: event.eventName,
    customer_id: customerId,
    external_customer_id: event.externalCustomerId,
    source: event.source,
    properties: fits ? JSON.parse(event.propertiesText ?? '{}', storable) : null,
    timestamp,
  };
}

/** A number of a size that no column of JSON takes is told as its text; every other keeps its digits. */
function storable(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  return isUnusableNumber(source) ? source : JSON.rawJSON(source);
}

/** Lists rejected events, newest first. Null cursor position starts with the newest. */
export async function listRejectedEvents(
  sql: Sql,
  scope: Scope,
  query: RejectedEventQuery,
): Promise<{ events: RejectedEvent[]; hasMore: boolean }> {
  const rows = await sql.rows<RejectedRow>(listText, [
    await environmentNumber(sql, scope),
    query.eventName ?? null,
    query.externalCustomerId ?? null,
    query.reason ?? null,
    query.after ?? null,
    query.limit + 1,
  ]);
  const events = rows.slice(0, query.limit).map((row) => ({
    cursor: row.seq,
    eventId: row.event_id,
    eventName: row.event_name,
    externalCustomerId: row.external_id,
    timestamp: row.ts,
    rejectedAt: row.rejected_at,
    reason: row.reason,
    problem: row.problem,
  }));
  return { events, hasMore: rows.length > query.limit };
}

interface RejectedRow {
  seq: string;
  event_id: string;
  event_name: string;
  external_id: string;
  ts: string;
  rejected_at: string;
  reason: RejectionReason;
  problem: string | null;
  [column: string]: unknown;
}

const unusedText = `
select m.number from meter m where m.environment_id = $1 and m.number = any($2) and not exists (
  select 1 from subscription_line_item line where line.environment_id = $1 and line.meter_id = m.id
    and line.status = 'published' and (line.end_date is null or line.end_date > now()))`;

// An event that this transaction stored has its instant and the event's place; behind a savepoint a row does not tell its
// transaction. Of what was told within the hour, no row is locked.
const recordText = `
with fresh as (
  select e.env, e.seq, e.key, e.event_id, e.event_name, e.subject, e.ts, r.reason, r.ord
  from unnest($2::uuid[], $3::text[], $4::int[]) as r(key, reason, ord)
  join usage.event_key k on k.env = $1 and k.key = r.key
  join usage.event e on e.seq = k.seq and e.env = k.env and e.key = k.key
    and e.ingested_at >= now() and e.ingested_at = now() + r.ord * interval '1 microsecond' and e.txid = pg_current_xact_id()
), kept as (
  insert into usage.rejected_event (env, seq, key, event_id, event_name, subject, ts, rejected_at, reason)
  select env, seq, key, event_id, event_name, subject, ts, now(), reason from fresh order by seq
), first as (
  select distinct on (event_name, reason) * from fresh order by event_name, reason, ord
), noticed as (
  insert into usage.rejection_notice as n (env, event_name, reason, noticed_at)
  select env, event_name, reason, now() from first f where not exists (
    select 1 from usage.rejection_notice told where told.env = f.env and told.event_name = f.event_name
      and told.reason = f.reason and told.noticed_at > now() - interval '1 hour')
  order by event_name, reason
  on conflict (env, event_name, reason) do update set noticed_at = excluded.noticed_at
    where n.noticed_at <= excluded.noticed_at - interval '1 hour'
  returning n.event_name, n.reason
)
select first.key::text as key, first.reason, ${utcText('first.ts')} as ts from first join noticed using (event_name, reason)`;

const listText = `
select * from ((
  select r.seq, coalesce(r.event_id, r.key::text) as event_id, name.name as event_name, s.external_id,
    ${utcText('r.ts')} as ts, ${utcText('r.rejected_at')} as rejected_at, r.reason, null as problem
  from usage.rejected_event r
  join usage.event_name name on name.env = $1 and name.number = r.event_name
  join usage.subject s on s.number = r.subject
  where r.env = $1
    and ($2::text is null or r.event_name = (select number from usage.event_name where env = $1 and name = $2))
    and ($3::text is null or r.subject in (select number from usage.subject where env = $1 and external_id = $3))
    and ($4::text is null or r.reason = $4)
    and ($5::bigint is null or r.seq < $5::bigint)
  order by r.seq desc limit $6
) union all (
  select seq, event_id, event_name, external_customer_id, ${utcText('ts')}, ${utcText('rejected_at')}, 'not_storable', problem
  from usage.unstorable_event where env = $1
    and ($2::text is null or event_name = $2)
    and ($3::text is null or external_customer_id = $3)
    and ($4::text is null or $4 = 'not_storable')
    and ($5::bigint is null or seq < $5::bigint)
  order by seq desc limit $6
)) as rejected order by seq desc limit $6`;

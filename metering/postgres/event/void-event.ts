import { refuse } from '../../../billing/refusal.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { writeAudit } from '../../../services/platform/audit.ts';
import { markCustomers } from '../../../services/usage-mark.ts';
import type { BilledWindow } from '../../../services/usage-reader.ts';
import { eventKey } from '../../event.ts';
import type { EventVoid } from '../../usage-store.ts';
import { rebuildBuckets, type ScopedSql } from '../build-rollups.ts';
import { environmentNumber } from '../environment-number.ts';
import { holderOfSubject } from '../subject-holder.ts';
import { noteOwnEvents } from './own-events.ts';
import { utcText } from './stored-event.ts';

/**
 * Takes an event out of every count, in one transaction with the buckets it was in; writers of the environment wait for it.
 * Its id stays taken: what is sent with it afterwards is a copy. Voiding again changes nothing and tells the first time.
 * Invoices that are final stay as they are and show it as a correction. Throws `not_found`, and
 * `invalid_operation` for a day of which events were dropped. Own; design: usage.md Afterwards
 */
export async function voidEvent(
  tx: ScopedSql,
  input: { id: string; reason: string },
): Promise<{ eventVoid: EventVoid; isNew: boolean }> {
  const { scope } = tx;
  const env = await environmentNumber(tx, scope);
  const key = eventKey(input.id);
  await tx.rows('select pg_advisory_xact_lock(7101, $1)', [env]);
  const known = await readVoid(tx, env, key);
  if (known) return { eventVoid: known, isNew: false };
  const [event] = await tx.rows<VoidedRow>(voidText, [env, key]);
  if (!event) throw missing('event', input.id);
  await refuseIncomplete(tx, env, event);
  await noteOwnEvents(tx);
  await tx.rows(
    `insert into usage.event_void (env, key, event_id, voided_at, reason, actor) values ($1, $2, $3, now(), $4, $5)`,
    [env, key, input.id, input.reason, scope.actor],
  );
  const meters = await tx.rows<{ id: string }>(
    `select m.id from meter m join usage.event_name name on name.env = $1 and name.name = m.event_name
     where m.environment_id = $2 and name.number = $3 order by m.number`,
    [env, scope.environmentId, event.event_name],
  );
  for (const meter of meters) await rebuildBuckets(tx, meter.id, event);
  await markHolder(tx, event.subject);
  const eventVoid = await readVoid(tx, env, key);
  if (!eventVoid) throw new Error(`the void of event ${input.id} was not stored`);
  const detail = { reason: input.reason, timestamp: event.ts };
  await writeAudit(tx, scope, [
    { objectType: 'event', objectId: input.id, action: 'voided', occurredAt: eventVoid.voidedAt, detail },
  ]);
  return { eventVoid, isNew: true };
}

/** What an event no longer costs moves the balance of its customer. */
async function markHolder(tx: ScopedSql, subject: string): Promise<void> {
  const rows = await tx.rows<{ id: string }>(
    `select c.id from usage.subject s ${holderOfSubject} join customer c on c.environment_id = $2 and c.number = holder.number
     where s.number = $1`,
    [subject, tx.scope.environmentId],
  );
  markCustomers(
    tx,
    tx.scope,
    rows.map(({ id }) => id),
  );
}

interface VoidedRow {
  subject: string;
  ts: string;
  event_name: number;
  [column: string]: unknown;
}

/** The buckets of an event are recomputed from all of them, which retention may have dropped in part. */
async function refuseIncomplete(tx: ScopedSql, env: number, { subject, ts, event_name }: VoidedRow): Promise<void> {
  const [dropped] = await tx.rows(
    `select 1 from usage.dropped_usage where env = $1 and subject = $2 and event_name = $3
     and dropped_until > date_trunc('day', $4::timestamptz, 'UTC')`,
    [env, subject, event_name, ts],
  );
  if (!dropped) return;
  throw refuse(
    'invalid_operation',
    'other events of its day were dropped by retention, so its buckets cannot be recomputed: send an event with an id of its own and the difference',
  );
}

/** That an event was voided; null while it counts. */
export async function readVoid(sql: Sql, env: number, key: string): Promise<EventVoid | null> {
  const [row] = await sql.rows<{ voided_at: string; reason: string; actor: string }>(
    `select ${utcText('voided_at')} as voided_at, reason, actor from usage.event_void where env = $1 and key = $2`,
    [env, key],
  );
  return row ? { voidedAt: row.voided_at, reason: row.reason, actor: row.actor } : null;
}

/**
 * How many events of each billed time were voided after it was billed, by its key. Times without any are absent.
 * spec: README decision 11, for corrections
 */
export async function countVoided(
  sql: Sql,
  scope: Scope,
  windows: readonly BilledWindow[],
): Promise<Map<string, number>> {
  const each = windows.flatMap(everyCustomer);
  const rows = await sql.rows<{ key: string; count: number }>(countText, [
    await environmentNumber(sql, scope),
    scope.environmentId,
    each.map(({ key }) => key),
    each.map(({ meterId }) => meterId),
    each.map(({ customerId }) => customerId),
    each.map(({ from }) => from),
    each.map(({ to }) => to),
    each.map(({ filters }) => JSON.stringify(Object.entries(filters ?? {}).map(([key, values]) => ({ key, values })))),
    each.map(({ watermark }) => watermark),
  ]);
  return new Map(rows.map((row) => [row.key, row.count]));
}

/** The window for each customer whose usage it united, as far as that one counted. */
function everyCustomer({ inherited = [], ...window }: BilledWindow): BilledWindow[] {
  const others = inherited.map(({ customerId, from, to }) => ({
    ...window,
    customerId,
    from: from > window.from ? from : window.from,
    to: to !== null && to < window.to ? to : window.to,
  }));
  return [window, ...others];
}

const voidText = `
update usage.event e set env = -e.env, voided = pg_current_xact_id() from usage.event_key k
where k.env = $1 and k.key = $2 and e.env = $1 and e.seq = k.seq and e.key = k.key
returning e.subject::text as subject, ${utcText('e.ts')} as ts, e.event_name`;

// Whose usage it is follows the reading of usage: usage-text.ts.
const countText = `
select w.key, count(*)::int as count
from unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::jsonb[], $9::text[])
  as w(key, meter_id, customer_id, began, ended, filters, watermark)
join meter m on m.id = w.meter_id and m.environment_id = $2
join usage.event_name name on name.env = $1 and name.name = m.event_name
join customer c on c.id = w.customer_id and c.environment_id = $2
join usage.subject s on s.env = $1 and (s.holder = c.number
  or s.holder is null and c.status = 'published' and s.external_id = c.external_id)
join usage.event e on e.env = -$1::int and e.subject = s.number and e.event_name = name.number
  and e.ts >= w.began and e.ts < w.ended and usage.matches(e.props, m.filters || w.filters)
  and (m.expression_program is null
    or usage.expression_value(e.props, array(select jsonb_array_elements_text(m.expression_program))) is not null)
  and pg_visible_in_snapshot(e.txid, split_part(w.watermark, '@', 1)::pg_snapshot)
  and not pg_visible_in_snapshot(e.voided, split_part(w.watermark, '@', 1)::pg_snapshot)
group by w.key`;

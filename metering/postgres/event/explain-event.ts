import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { eventKey } from '../../event.ts';
import type { BilledEvidence, EventEvidence, MeterEvidence } from '../../event-explanation.ts';
import type { UsageStore } from '../../usage-store.ts';
import { environmentNumber } from '../environment-number.ts';
import { isUnbuilt } from '../unbuilt-meter.ts';
import { utcText } from './stored-event.ts';

const maxMeters = 50;
const maxLines = 100;
const maxInvoiceLines = 20;

/**
 * Reads what decides about one event, each statement with a limit whatever the number of events. Null when no event has the
 * id. The event and what counts it come from the engine, as in `GET /events/{id}`. spec: catalogue-and-metering §6.5
 */
export async function readEventEvidence(
  sql: Sql,
  scope: Scope,
  store: Pick<UsageStore, 'event'>,
  id: string,
): Promise<EventEvidence | null> {
  const found = await store.event(sql, scope, id);
  if (!found) return null;
  const { environmentId } = scope;
  const key = eventKey(id);
  const env = await environmentNumber(sql, scope);
  const lines = found.attributions.flatMap(({ lineItems }) => lineItems.map((line) => line.id)).slice(0, maxLines);
  const meters = await sql.rows<MeterRow>(metersText, [env, environmentId, key, lines]);
  const billed = lines.length === 0 ? [] : await sql.rows<BilledRow>(billedText, [env, environmentId, key, lines]);
  return { found, meters: meters.map(meterEvidence), billed: billed.map(billedEvidence) };
}

interface MeterRow {
  id: string;
  name: string;
  status: string;
  filters: MeterEvidence['filters'];
  bucket: string | null;
  bucket_events: string | null;
  excluded: string[];
  [column: string]: unknown;
}

function meterEvidence(row: MeterRow): MeterEvidence {
  return {
    meterId: row.id,
    name: row.name,
    archived: row.status !== 'published',
    filters: row.filters,
    bucket: row.bucket === null ? null : { start: row.bucket, eventCount: Number(row.bucket_events ?? 0) },
    excludedLines: row.excluded,
  };
}

interface BilledRow {
  line_item_id: string;
  invoice_line_item_id: string;
  invoice_id: string;
  invoice_number: string | null;
  invoice_status: string;
  is_final: boolean;
  began: string;
  ended: string;
  budgets: BilledEvidence['budgets'];
  knew: boolean;
  [column: string]: unknown;
}

function billedEvidence(row: BilledRow): BilledEvidence {
  return {
    lineItemId: row.line_item_id,
    invoiceLineItemId: row.invoice_line_item_id,
    invoiceId: row.invoice_id,
    invoiceNumber: row.invoice_number,
    invoiceStatus: row.invoice_status,
    isFinal: row.is_final,
    from: row.began,
    to: row.ended,
    budgets: row.budgets,
    knew: row.knew,
  };
}

/** The effective event `e` with the key $3. */
const eventText = `
  select e.* from usage.event_key k join usage.event e on e.seq = k.seq and e.env in (k.env, -k.env) and e.key = k.key
  where k.env = $1 and k.key = $3`;

// Of two meters, the one that counts the event is told first, so that the limit leaves out what says least.
const metersText = `
with e as materialized (${eventText})
select m.id, m.name, m.status, f.filters, ${utcText('r.bucket')} as bucket, r.n::text as bucket_events,
  coalesce(x.excluded, '{}') as excluded
from e
join usage.event_name name on name.env = $1 and name.number = e.event_name
join meter m on m.environment_id = $2 and m.event_name = name.name
cross join lateral (
  select coalesce(jsonb_agg(jsonb_build_object('key', f ->> 'key', 'values', f -> 'values',
      'found', usage.text_form(e.props -> (f ->> 'key')),
      'passed', coalesce((f -> 'values') ? usage.text_form(e.props -> (f ->> 'key')), false)) order by ord), '[]') as filters
  from jsonb_array_elements(m.filters) with ordinality as t(f, ord)) f
left join lateral (
  select r.bucket, r.n from usage.rollup r
  where r.env = $1 and r.meter = m.number and r.version = m.version and r.subject = e.subject and r.bucket <= e.ts
    and not ${isUnbuilt('m.number')}
    and r.group_key = case when m.aggregation ->> 'group_by' is null then '' else usage.group_key(e.props -> (m.aggregation ->> 'group_by')) end and e.env > 0
    and usage.matches(e.props, m.filters)
  order by r.bucket desc limit 1) r on true
left join lateral (
  select array_agg(line.id) as excluded from subscription_line_item line join price on price.id = line.price_id
  where line.environment_id = $2 and line.id = any($4) and line.meter_id = m.id and price.filter_values is not null
    and not usage.matches(e.props, (select coalesce(jsonb_agg(jsonb_build_object('key', c.key, 'values', c.value)), '[]')
      from jsonb_each(price.filter_values) c))) x on true
order by usage.matches(e.props, m.filters) desc, m.number limit ${maxMeters}`;

// The watermark of a line tells which events it knew, as in usage-text.ts.
const billedText = `
with e as materialized (${eventText}), line as materialized (
  select id, invoice_id, subscription_line_item_id, derivation from invoice_line_item
  where environment_id = $2 and subscription_line_item_id = any($4) and status = 'published' and derivation is not null
  order by id desc limit 1000)
select line.subscription_line_item_id as line_item_id, line.id as invoice_line_item_id, i.id as invoice_id, i.invoice_number,
  i.invoice_status, i.finalized_at is not null as is_final, u.asked ->> 'from' as began, u.asked ->> 'to' as ended,
  (select coalesce(jsonb_agg(w), '[]') from jsonb_array_elements(nullif(part -> 'grants' -> 'windows', 'null')) w
    where e.ts >= (w ->> 'start')::timestamptz and e.ts < (w ->> 'end')::timestamptz) as budgets,
  pg_visible_in_snapshot(e.txid, split_part(u.asked ->> 'watermark', '@', 1)::pg_snapshot)
    and e.ingested_at <= to_timestamp(split_part(u.asked ->> 'watermark', '@', 2)::float8) + interval '1 second'
    and (e.voided is null or not pg_visible_in_snapshot(e.voided, split_part(u.asked ->> 'watermark', '@', 1)::pg_snapshot)) as knew
from e cross join line
join invoice i on i.id = line.invoice_id and i.environment_id = $2
cross join lateral jsonb_array_elements(line.derivation -> 'parts') part
cross join lateral (select part -> 'usage' as asked) u
where jsonb_typeof(u.asked) = 'object' and u.asked ->> 'watermark' is not null
  and e.ts >= (u.asked ->> 'from')::timestamptz and e.ts < (u.asked ->> 'to')::timestamptz
order by line.id desc limit ${maxInvoiceLines}`;

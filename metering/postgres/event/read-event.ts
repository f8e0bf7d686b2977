import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { eventKey } from '../../event.ts';
import type { AttributedLineItem, Attribution, EventWithCopies, StoredEvent } from '../../usage-store.ts';
import { environmentNumber } from '../environment-number.ts';
import { type StoredEventRow, storedEvent, storedEventColumns, storedEventJoins, utcText } from './stored-event.ts';
import { readVoid } from './void-event.ts';

const maxCopies = 50;

/**
 * One event by id: the effective copy, and every copy with the newest ingestion first. Null when no event has the id.
 * spec: catalogue-and-metering §6.5
 */
export async function readEvent(sql: Sql, scope: Scope, id: string): Promise<EventWithCopies | null> {
  const env = await environmentNumber(sql, scope);
  const key = eventKey(id);
  const [row] = await sql.rows<StoredEventRow>(effectiveText, [env, scope.environmentId, key]);
  if (!row) return null;
  const event = storedEvent(row);
  const later = await sql.rows<StoredEventRow>(copiesText, [env, key, maxCopies]);
  const copies = later.map((copy) => withComparison({ ...storedEvent(copy), customerId: event.customerId }, event));
  return {
    event,
    copies: [...copies, withComparison(event, event)].slice(0, maxCopies),
    voided: await readVoid(sql, env, key),
    attributions: await readAttributions(sql, scope, env, { key, customerId: event.customerId }),
  };
}

interface AttributionRow {
  meter_id: string;
  feature_id: string | null;
  quantity: string;
  line_item_id: string | null;
  subscription_id: string;
  price_id: string;
  start_date: string;
  end_date: string | null;
  covers_event: boolean;
}

async function readAttributions(
  sql: Sql,
  scope: Scope,
  env: number,
  event: { key: string; customerId: string | null },
): Promise<Attribution[]> {
  const rows = await sql.rows<AttributionRow>(attributionText, [env, scope.environmentId, event.key, event.customerId]);
  const byMeter = Map.groupBy(rows, (row) => row.meter_id);
  return [...byMeter.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const lineItems = group.flatMap((row) => (row.line_item_id === null ? [] : [lineItemOf(row, row.line_item_id)]));
    return [{ meterId: first.meter_id, featureId: first.feature_id, quantity: first.quantity, lineItems }];
  });
}

function lineItemOf(row: AttributionRow, id: string): AttributedLineItem {
  return {
    id,
    subscriptionId: row.subscription_id,
    priceId: row.price_id,
    startDate: row.start_date,
    endDate: row.end_date,
    coversEvent: row.covers_event,
  };
}

function withComparison(copy: StoredEvent, effective: StoredEvent) {
  const same =
    copy.eventName === effective.eventName &&
    copy.externalCustomerId === effective.externalCustomerId &&
    copy.timestamp === effective.timestamp &&
    copy.source === effective.source &&
    copy.properties === effective.properties;
  return { ...copy, samePayload: same };
}

// A voided event has the negative number of its environment.
const byKey =
  'from usage.event_key k join usage.event e on e.seq = k.seq and e.env in (k.env, -k.env) and e.key = k.key';

const effectiveText = `select ${storedEventColumns} ${byKey} ${storedEventJoins} where k.env = $1 and k.key = $3`;

const copiesText = `
select event_id as id, external_customer_id as external_id, null as customer_id, event_name, ${utcText('ts')} as ts,
  ${utcText('ingested_at')} as ingested_at, source, props::text as props
from usage.event_copy where env = $1 and key = $2 order by event_copy.ingested_at desc limit $3`;

const attributionText = `
select m.id as meter_id,
  (select min(feature.id) from feature where feature.environment_id = $2 and feature.meter_id = m.id) as feature_id,
  case when m.aggregation ->> 'type' in ('COUNT', 'COUNT_UNIQUE') then '1'
    else trim_scale(counted.quantity)::text end as quantity,
  line.id as line_item_id, line.subscription_id, line.price_id,
  ${utcText('line.start_date')} as start_date, ${utcText('line.end_date')} as end_date,
  e.ts >= line.start_date and (line.end_date is null or e.ts < line.end_date) as covers_event
${byKey}
join usage.event_name name on name.env = $1 and name.number = e.event_name
join meter m on m.environment_id = $2 and m.event_name = name.name and usage.matches(e.props, m.filters)
join lateral (select case when m.expression_program is null then usage.quantity(e.props -> (m.aggregation ->> 'field'))
  else usage.expression_value(e.props, array(select jsonb_array_elements_text(m.expression_program))) end as quantity) counted
  on counted.quantity is not null
left join subscription_line_item line
  on line.environment_id = $2 and line.customer_id = $4 and line.meter_id = m.id and line.status = 'published'
where k.env = $1 and k.key = $3 order by m.id, line.id`;

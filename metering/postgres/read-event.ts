import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { eventKey } from '../event.ts';
import type { EventWithCopies, StoredEvent } from '../usage-store.ts';
import { environmentNumber } from './environment-number.ts';
import { type StoredEventRow, storedEvent, storedEventColumns, storedEventJoins, utcText } from './stored-event.ts';

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
  const attributions = await sql.rows<{ meter_id: string; quantity: string }>(attributionText, [
    env,
    scope.environmentId,
    key,
  ]);
  return {
    event,
    copies: [...copies, withComparison(event, event)].slice(0, maxCopies),
    attributions: attributions.map((attribution) => ({
      meterId: attribution.meter_id,
      quantity: attribution.quantity,
    })),
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

const byKey = 'from usage.event_key k join usage.event e on e.seq = k.seq and e.env = k.env and e.key = k.key';

const effectiveText = `select ${storedEventColumns} ${byKey} ${storedEventJoins} where k.env = $1 and k.key = $3`;

const copiesText = `
select event_id as id, external_customer_id as external_id, null as customer_id, event_name, ${utcText('ts')} as ts,
  ${utcText('ingested_at')} as ingested_at, source, props::text as props
from usage.event_copy where env = $1 and key = $2 order by event_copy.ingested_at desc limit $3`;

const attributionText = `
select m.id as meter_id,
  case when m.aggregation ->> 'type' in ('COUNT', 'COUNT_UNIQUE') then '1'
    else trim_scale(usage.quantity(e.props -> (m.aggregation ->> 'field')))::text end as quantity
${byKey}
join usage.event_name name on name.env = $1 and name.number = e.event_name
join meter m on m.environment_id = $2 and m.event_name = name.name and usage.matches(e.props, m.filters)
where k.env = $1 and k.key = $3 order by m.id`;

import type { StoredEvent } from '../../usage-store.ts';
import { holderOfSubject } from '../subject-holder.ts';

export interface StoredEventRow {
  id: string;
  external_id: string;
  customer_id: string | null;
  event_name: string;
  ts: string;
  ingested_at: string;
  source: string | null;
  props: string | null;
}

export const utcText = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The columns of a stored event; `e` is the event, `s` its subject, `name` its event name, `customer` whose it is. */
export const storedEventColumns = `
  coalesce(e.event_id, e.key::text) as id, s.external_id, customer.id as customer_id, name.name as event_name,
  ${utcText('e.ts')} as ts, ${utcText('e.ingested_at')} as ingested_at, e.source, e.props::text as props`;

/** $1 is env, $2 the environment's id. The customer is who gave the id up, or who holds it now. */
export const storedEventJoins = `
  join usage.subject s on s.number = e.subject
  join usage.event_name name on name.env = $1 and name.number = e.event_name
  ${holderOfSubject}
  left join customer on customer.environment_id = $2 and customer.number = holder.number`;

export function storedEvent(row: StoredEventRow): StoredEvent {
  return {
    id: row.id,
    externalCustomerId: row.external_id,
    customerId: row.customer_id,
    eventName: row.event_name,
    timestamp: row.ts,
    ingestedAt: row.ingested_at,
    source: row.source,
    properties: row.props,
  };
}

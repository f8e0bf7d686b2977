import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { aggregateValue } from '../../aggregate.ts';
import { eventKey } from '../../event.ts';
import type { AggregationType } from '../../meter.ts';
import type { ChargedEvent } from '../../usage-store.ts';
import { environmentNumber } from '../environment-number.ts';
import { measuredValue } from '../measured-value.ts';
import { storedEventJoins, utcText } from './stored-event.ts';

interface ChargedRow {
  key: string;
  price_id: string;
  type: AggregationType;
  multiplier: string | null;
  at: string;
  quantity: string;
  [column: string]: unknown;
}

/**
 * What each event adds to the lines that charge for it: the effective copy, by every meter that counts it, for every line of
 * its customer that is in force at its time and whose price takes it. One statement whatever the number of ids; an id that no
 * event has is left out. An event whose value a meter weighs by time counts whole. spec: catalogue-and-metering §6.1, §6.5
 */
export async function measureEvents(sql: Sql, scope: Scope, ids: readonly string[]): Promise<ChargedEvent[]> {
  if (ids.length === 0) return [];
  const env = await environmentNumber(sql, scope);
  const idOf = new Map(ids.map((id) => [eventKey(id), id]));
  const rows = await sql.rows<ChargedRow>(chargedText, [env, scope.environmentId, [...idOf.keys()]]);
  return rows.flatMap((row) => {
    const id = idOf.get(row.key);
    return id === undefined ? [] : [{ id, priceId: row.price_id, quantity: quantityOf(row) }];
  });
}

/** The aggregate of a set that holds this event alone. */
function quantityOf({ type, multiplier, at, quantity }: ChargedRow): string {
  const alone = {
    count: 1,
    sum: quantity,
    weightedSum: null,
    greatest: quantity,
    latest: quantity,
    distinctCount: 1,
  };
  const rule = { type: type === 'WEIGHTED_SUM' ? 'SUM' : type, multiplier, from: at, to: at } as const;
  return aggregateValue(alone, rule);
}

const chargedText = `
select k.key::text as key, line.price_id, m.aggregation ->> 'type' as type, m.aggregation ->> 'multiplier' as multiplier,
  ${utcText('e.ts')} as at, counted.quantity::text as quantity
from usage.event_key k
join usage.event e on e.seq = k.seq and e.env = k.env and e.key = k.key
${storedEventJoins}
join meter m on m.environment_id = $2 and m.event_name = name.name and usage.matches(e.props, m.filters)
cross join lateral (select m.aggregation ->> 'field' as field,
  case when m.expression_program is not null then array(select jsonb_array_elements_text(m.expression_program)) end as program) measure
join lateral (select ${measuredValue('measure')} as quantity) counted on counted.quantity is not null
join subscription_line_item line on line.environment_id = $2 and line.customer_id = customer.id and line.meter_id = m.id
  and line.status = 'published' and e.ts >= line.start_date and (line.end_date is null or e.ts < line.end_date)
join price p on p.id = line.price_id
where k.env = $1 and k.key = any($3::uuid[])
  and (m.aggregation ->> 'type' <> 'COUNT_UNIQUE' or usage.text_form(e.props -> (m.aggregation ->> 'field')) is not null)
  and usage.matches(e.props, coalesce((
    select jsonb_agg(jsonb_build_object('key', c.key, 'values', c.value)) from jsonb_each(p.filter_values) c), '[]'))
order by k.key, line.id`;

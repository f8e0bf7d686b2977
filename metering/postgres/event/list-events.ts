import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { EventPage, EventQuery } from '../../usage-store.ts';
import { environmentNumber } from '../environment-number.ts';
import { type StoredEventRow, storedEvent, storedEventColumns, storedEventJoins } from './stored-event.ts';

/**
 * A page of effective events, newest first unless offset mode asks otherwise. A cursor walks by (timestamp, id): `before`
 * towards the past; `after` gives the rows next to the cursor, still newest first, so that a poll misses none. One row
 * more than the page tells whether there is more. spec: catalogue-and-metering §6.4
 */
export async function listEvents(sql: Sql, scope: Scope, query: EventQuery): Promise<EventPage> {
  const env = await environmentNumber(sql, scope);
  const filters = Object.entries(query.filters ?? {}).map(([key, values]) => ({ key, values }));
  const selected = [
    env,
    scope.environmentId,
    query.from,
    query.to,
    query.externalCustomerId ?? null,
    query.eventName ?? null,
    query.source ?? null,
    query.eventId ?? null,
    JSON.stringify(filters),
  ];
  const cursor = query.before ?? query.after;
  const rows = await sql.rows<StoredEventRow>(pageText(query), [
    ...selected,
    cursor?.timestamp ?? null,
    cursor?.id ?? null,
    query.pageSize + 1,
    cursor ? 0 : query.offset,
  ]);
  const [counted] = await sql.rows<{ count: string }>(
    `select count(*) as count from usage.event e ${selection}`,
    selected,
  );
  const page = rows.slice(0, query.pageSize).map(storedEvent);
  return {
    events: query.after ? page.reverse() : page,
    hasMore: rows.length > query.pageSize,
    totalCount: Number(counted?.count ?? 0),
  };
}

const idOf = `coalesce(e.event_id, e.key::text) collate "C"`;

// $2 is the environment's id, which only the page needs; naming it here gives it a type in both statements.
const selection = `
where e.env = $1 and $2::text is not null and e.ts >= $3::timestamptz and e.ts <= $4::timestamptz
  and ($5::text is null or e.subject in (select number from usage.subject where env = $1 and external_id = $5))
  and ($6::text is null or e.event_name = (select number from usage.event_name where env = $1 and name = $6))
  and ($7::text is null or e.source = $7)
  and ($8::text is null or ${idOf} = $8)
  and ($9::jsonb = '[]' or usage.matches(e.props, $9::jsonb))`;

function pageText(query: EventQuery): string {
  const direction = query.after ? 'asc' : query.before ? 'desc' : query.order;
  const sortedByName = !query.after && !query.before && query.sort === 'event_name';
  const order = `${sortedByName ? `name.name collate "C" ${direction}, ` : ''}e.ts ${direction}, ${idOf} ${direction}`;
  const comparison = query.after ? '>' : '<';
  return `select ${storedEventColumns} from usage.event e ${storedEventJoins} ${selection}
    and ($10::timestamptz is null or (e.ts, ${idOf}) ${comparison} ($10::timestamptz, $11::text))
    order by ${order} limit $12 offset $13`;
}

import type { ListPage, ListQuery } from '../../../db/list.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { placeEvents } from '../outbox-relay.ts';
import { type EventStanding, lackingText, standingsOf } from './event-standing.ts';

/** An outbound event with its standing at every endpoint. */
export interface StandingEvent {
  id: string;
  tenantId: string;
  environmentId: string;
  eventName: string;
  entityType: string;
  entityId: string;
  sequence: number;
  occurredAt: string;
  createdAt: string;
  standings: readonly EventStanding[];
}

/** Conditions of a list of events; null for no condition. */
export interface EventFilters {
  eventName: string | null;
  entityType: string | null;
  entityId: string | null;
  /** True for what no endpoint lacks, also where there is none; false for what an endpoint was due and has not got. */
  isDelivered: boolean | null;
}

/**
 * Page of the outbound events of this environment that are kept, with what became of each. Throws `validation_error` for another column to sort by than
 * `created_at` and `id`. spec: platform §17.4, §1.5
 */
export async function listEvents(
  tx: ScopedSql,
  query: ListQuery,
  filters: EventFilters,
): Promise<ListPage<StandingEvent>> {
  const { limit, offset } = query;
  const order = orderOf(query);
  await placeEvents(tx);
  const { lacking, where, values } = conditionsOf(tx.scope.environmentId, query, filters);
  const isAll = values.length === 1 && lacking === '';
  const [counted] = isAll
    ? await tx.rows<{ total: number }>(allText, values)
    : await tx.rows<{ total: number }>(
        `${lacking} select count(*)::int as total from outbox_event e where ${where}`,
        values,
      );
  const rows = await tx.rows<EventRow>(
    `${lacking} select ${columns} from outbox_event e where ${where} order by ${order}
     limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, limit, offset],
  );
  return { rows: await withStandings(tx, rows), total: counted?.total ?? 0, limit, offset };
}

/** An outbound event of this environment that is kept, as it is stored, and what became of it. Throws `not_found`. spec: platform §17.4 */
export async function findEvent(tx: ScopedSql, id: string): Promise<StandingEvent & { payload: string }> {
  await placeEvents(tx);
  const [row] = await tx.rows<EventRow & { payload: string }>(
    `select ${columns}, e.payload::text as payload from outbox_event e where e.environment_id = $1 and e.id = $2 and ${isKept}`,
    [tx.scope.environmentId, id],
  );
  const [event] = await withStandings(tx, row ? [row] : []);
  if (!row || !event) throw missing('outbound event', id);
  return { ...event, payload: row.payload };
}

type EventRow = Omit<StandingEvent, 'standings'>;

async function withStandings(tx: ScopedSql, rows: readonly EventRow[]): Promise<StandingEvent[]> {
  const standings = await standingsOf(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...row,
    occurredAt: instantText(row.occurredAt),
    createdAt: instantText(row.createdAt),
    standings: standings.get(row.id) ?? [],
  }));
}

function orderOf({ sort }: ListQuery): string {
  const bad = sort.find(({ field }) => field !== 'created_at' && field !== 'id');
  if (bad) throw badField('sort', 'must be created_at or id');
  const direction = sort.at(-1)?.direction ?? 'desc';
  return [...sort.map(({ field, direction }) => `e.${field} ${direction}`), `e.id ${direction}`].join(', ');
}

function conditionsOf(environmentId: string, query: ListQuery, filters: EventFilters) {
  const values: unknown[] = [environmentId];
  const conditions = ['e.environment_id = $1', isKept];
  const add = (condition: string, value: unknown) => {
    if (value === null) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  add('e.event_name =', filters.eventName);
  add('e.entity_type =', filters.entityType);
  add('e.entity_id =', filters.entityId);
  add('e.created_at >=', query.startTime);
  add('e.created_at <', query.endTime);
  // An event is never archived or deleted.
  if (query.status !== null && query.status !== 'published') conditions.push('false');
  const { isDelivered } = filters;
  if (isDelivered !== null) conditions.push(`e.id ${isDelivered ? 'not in' : 'in'} (select id from lacking)`);
  const lacking = isDelivered === null ? '' : `with lacking as materialized (${lackingText})`;
  return { lacking, where: conditions.join(' and '), values };
}

const columns = `e.id, e.tenant_id as "tenantId", e.environment_id as "environmentId", e.event_name as "eventName",
  e.entity_type as "entityType", e.entity_id as "entityId", e.sequence, e.occurred_at as "occurredAt", e.created_at as "createdAt"`;

/** True for an event that is kept: of others the number alone is there. */
const isKept = 'e.payload is not null';

// Places are dense, so all of them are as many as from the first to the last; an endpoint may wait for some of before.
const allText = `
select (r.last_position - r.forgotten_position + (
  select count(*) from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
  where e.environment_id = $1 and ${isKept} and e.created_at < r.forgotten_before and f.feed_position <= r.forgotten_position))::int as total
from outbox_relay r where r.environment_id = $1`;

import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { isDue } from './due-event.ts';

/**
 * Standing of an event at an endpoint: `delivered`; not for it, because of its types (`filtered`) or of its start (`before_start`); given up
 * after its last attempt (`failed`), because no attempt had reached it within 48 hours (`stale`), or because the endpoint
 * was to resume behind it (`dropped`); between attempts (`retrying`) or held
 * after the last (`held`); behind another event of its object (`waiting`); or not reached yet (`pending`).
 */
export const eventStates = [
  'delivered',
  'filtered',
  'before_start',
  'failed',
  'stale',
  'dropped',
  'retrying',
  'held',
  'waiting',
  'pending',
] as const;
export type EventState = (typeof eventStates)[number];

const notLacking: readonly EventState[] = ['delivered', 'filtered', 'before_start'];

/** True for the standing of an event that its endpoint was due and has not got. */
export const isLacking = ({ state }: Pick<EventStanding, 'state'>) => !notLacking.includes(state);

export interface EventStanding {
  eventId: string;
  endpointId: string;
  isEnabled: boolean;
  state: EventState;
  /** Sequence of the event of the same object that goes first; null where none does. */
  waitsBehind: number | null;
  /** Null where no attempt follows by itself, or none has a time. */
  nextAttemptAt: string | null;
}

/**
 * Standings of events at every endpoint of this environment, in one statement; of events that have a place in the feed.
 * spec: platform §17.1; design: people-and-events §B 16
 */
export async function standingsOf(
  tx: ScopedSql,
  eventIds: readonly string[],
): Promise<Map<string, readonly EventStanding[]>> {
  if (eventIds.length === 0) return new Map();
  const rows = await tx.rows<EventStanding>(standingText, [tx.scope.environmentId, eventIds], 'webhook-event-standing');
  const standings = rows.map((row) => ({ ...row, nextAttemptAt: row.nextAttemptAt && instantText(row.nextAttemptAt) }));
  return Map.groupBy(standings, ({ eventId }) => eventId);
}

/** Events of the environment $1 that an endpoint was due and has not got, by id: behind its cursor, in a line, or given up. */
export const lackingText = `
select e.id from webhook_cursor c
join outbox_feed f on f.environment_id = $1 and f.feed_position > c.position
join outbox_event e on e.id = f.event_id
where c.environment_id = $1 and ${isDue('e', 'f', 'c.endpoint_id')} and not ${isReceived('e.id', 'c.endpoint_id')}
union
select e.id from webhook_line l
join outbox_event e on e.environment_id = $1 and e.entity_id = l.entity_id and e.sequence >= l.next_sequence
join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
where l.environment_id = $1 and ${isDue('e', 'f', 'l.endpoint_id')} and not ${isReceived('e.id', 'l.endpoint_id')}
union
select s.event_id from webhook_skip s where s.environment_id = $1 and s.received_at is null`;

/** SQL that is true for an event that its endpoint received, though what came before it is not settled yet. */
function isReceived(eventId: string, endpointId: string): string {
  return `exists (select from webhook_delivery d
    where d.environment_id = $1 and d.event_id = ${eventId} and d.endpoint_id = ${endpointId} and d.error is null)`;
}

const isWaiting = 'l.next_sequence <= e.sequence';
const isFirst = 'l.next_sequence = e.sequence';

const standingText = `
select e.id as "eventId", p.id as "endpointId", p.enabled as "isEnabled", state.is as state,
  case when state.is = 'waiting' then l.next_sequence end as "waitsBehind",
  case when not p.enabled then null
    when state.is = 'retrying' then greatest(l.next_at, c.paused_until)
    when state.is = 'pending' then c.paused_until end as "nextAttemptAt"
from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
cross join webhook_endpoint p join webhook_cursor c on c.endpoint_id = p.id
left join webhook_line l on l.endpoint_id = p.id and l.entity_id = e.entity_id
left join webhook_skip s on s.endpoint_id = p.id and s.entity_id = e.entity_id and s.sequence = e.sequence
cross join lateral (select ${isDue('e', 'f', 'p.id')} as is_due) due
cross join lateral (select case
  when ${isReceived('e.id', 'p.id')} then 'delivered'
  when due.is_due is null then 'before_start'
  when not due.is_due then 'filtered'
  when s.received_at is not null then 'delivered'
  when s.reason is not null then s.reason
  when ${isFirst} and l.attempts = 0 then 'pending'
  when ${isFirst} and l.next_at is null then 'held'
  when ${isFirst} then 'retrying'
  when ${isWaiting} then 'waiting'
  when f.feed_position > c.position then 'pending'
  else 'delivered' end as is) state
where e.environment_id = $1 and e.id = any($2) and p.environment_id = $1 and p.status = 'published'
order by p.created_at, p.id`;

import type { InvariantRule } from './invariant.ts';

const kept = `
select t.environment_id, t.entity_id, count(*) as events from outbox_event t where t.payload is not null group by t.environment_id, t.entity_id`;

/** SQL that is true for an object `o` of whose events none was forgotten. */
export const isToldWhole = (o: string) => `not exists (
  select from outbox_sequence c left join (${kept}) k on k.environment_id = c.environment_id and k.entity_id = c.entity_id
  where c.entity_id = ${o}.id and c.last > coalesce(k.events, 0))`;

/** Rules about the numbers of outbound events, their places in the feed, and those that were kept long enough. design: people-and-events §A 1, B 17 */
export const outboxRules: readonly InvariantRule[] = [
  {
    id: 'I10',
    rule: 'the events of an object are numbered 1, 2, 3 … without a gap, but for those at the beginning that were forgotten',
    examines: 'select count(*) from outbox_event',
    violations: `
      with shown as (
        select e.environment_id, e.entity_id, e.sequence
        from outbox_event e left join outbox_relay r using (environment_id)
        left join outbox_feed f on f.environment_id = e.environment_id and f.event_id = e.id
        where f.feed_position is null or f.feed_position > r.forgotten_position
      ), numbered as (
        select environment_id, entity_id, min(sequence) as first, max(sequence) as last, count(*) as n, count(distinct sequence) as d
        from shown group by environment_id, entity_id
      )
      select coalesce(n.entity_id, s.entity_id) as object, format('%s events numbered %s to %s, the counter is at %s', coalesce(n.n, 0),
        n.first, n.last, s.last) as problem
      from numbered n full join outbox_sequence s using (environment_id, entity_id) left join outbox_relay r using (environment_id)
      where coalesce(r.forgotten_position, 0) = 0 and n.first is distinct from 1
        or n.last - n.first + 1 <> n.n or n.n <> n.d or s.last is null or s.last <> n.last`,
  },
  {
    id: 'I10',
    rule: 'places in the feed of events go up by one in the order of each object, and none is missing but for the newest events and those that were forgotten',
    examines: 'select count(*) from outbox_feed',
    violations: `
      select r.environment_id as object, format('%s places from %s up to %s, the last is said to be %s', count(f.*), r.forgotten_position + 1, max(f.feed_position), r.last_position) as problem
      from outbox_relay r left join outbox_feed f on f.environment_id = r.environment_id and f.feed_position > r.forgotten_position
      group by r.environment_id, r.last_position, r.forgotten_position
      having count(f.*) <> r.last_position - r.forgotten_position or coalesce(max(f.feed_position), r.forgotten_position) <> r.last_position
      union all
      select event_id, format('place %s comes after a later event of %s', feed_position, entity_id)
      from (select f.event_id, f.feed_position, e.entity_id, e.sequence,
          max(e.sequence) over (partition by e.environment_id, e.entity_id order by f.feed_position) as before
        from outbox_feed f join outbox_event e on e.id = f.event_id) placed where sequence < before
      union all
      select entity_id, format('event %s has no place in the feed, event %s has one', first_without, last_with)
      from (select e.entity_id, min(e.sequence) filter (where f.event_id is null) as first_without,
          max(e.sequence) filter (where f.event_id is not null) as last_with
        from outbox_event e left join outbox_feed f on f.environment_id = e.environment_id and f.event_id = e.id
        group by e.environment_id, e.entity_id) object where first_without < last_with`,
  },
  {
    id: 'I10',
    rule: 'no event is forgotten that the feed shows or an endpoint waits for',
    examines: 'select count(*) from outbox_event where payload is null',
    violations: `
      select e.id as object, 'its number alone is kept, and the feed still shows it' as problem
      from outbox_event e left join outbox_feed f on f.environment_id = e.environment_id and f.event_id = e.id
      left join outbox_relay r on r.environment_id = e.environment_id
      where e.payload is null and (f.feed_position is null or f.feed_position > r.forgotten_position)
      union all
      select c.endpoint_id, format('it stands at place %s, and events up to %s are forgotten', c.position, r.forgotten_position)
      from webhook_cursor c join outbox_relay r using (environment_id) where c.position < r.forgotten_position
      union all
      select l.endpoint_id, format('it waits for events of %s from %s on, of which %s is forgotten', l.entity_id, l.next_sequence, e.sequence)
      from webhook_line l join outbox_event e on e.environment_id = l.environment_id and e.entity_id = l.entity_id
        and e.sequence >= l.next_sequence and e.payload is null`,
  },
];

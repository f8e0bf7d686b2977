import type { ScopedSql, Sql } from '../../../db/transaction.ts';
import { isDue } from '../webhook/due-event.ts';
import { lockEndpoints } from '../webhook/endpoints-lock.ts';

/** An environment, and whose it is. */
export interface Owner {
  tenantId: string;
  environmentId: string;
}

/** Environments, archived ones too, with events of before an instant that are kept; those with the oldest first. */
export async function ownersOfOldEvents(sql: Sql, before: string): Promise<Owner[]> {
  return sql.rows<{ tenantId: string; environmentId: string }>(ownersText, [before]);
}

/**
 * Forgets the events at the beginning of the environment's feed that were created before an instant, `atOnce` of them at most, and answers how
 * many the feed shows no more. It ends at the first that is newer, and where an endpoint has not got so far. What an endpoint
 * or a replay still waits for is kept, out of the feed, until `forgetFreed`. Of an object whose events are forgotten the number of the
 * last one stays that an endpoint was due: by it a receiver learns that it misses nothing. design: people-and-events §A 4, B 17
 */
export async function forgetEvents(
  tx: ScopedSql,
  { before, atOnce }: { before: string; atOnce: number },
): Promise<number> {
  // An endpoint that is made meanwhile starts behind what is forgotten.
  await lockEndpoints(tx);
  const { environmentId } = tx.scope;
  const rows = await tx.rows<{ id: string; place: string; isOld: boolean }>(firstText, [environmentId, before, atOnce]);
  const newer = rows.findIndex(({ isOld }) => !isOld);
  const old = newer < 0 ? rows : rows.slice(0, newer);
  const last = old.at(-1);
  if (!last) return 0;
  await forget(
    tx,
    old.map(({ id }) => id),
  );
  await tx.rows(movedText, [environmentId, last.place, before]);
  return old.length;
}

/** Forgets events out of the feed that nobody waits for any more, `atOnce` of them at most, and answers how many. */
export async function forgetFreed(
  tx: ScopedSql,
  { before, atOnce }: { before: string; atOnce: number },
): Promise<number> {
  await lockEndpoints(tx);
  const rows = await tx.rows<{ id: string }>(freedText, [tx.scope.environmentId, before, atOnce]);
  if (rows.length > 0) {
    await forget(
      tx,
      rows.map(({ id }) => id),
    );
  }
  return rows.length;
}

/** Forgets those of some events that nobody waits for. The rows are locked: what waits for one is known by now. */
async function forget(tx: ScopedSql, ids: readonly string[]): Promise<void> {
  await tx.rows(forgetText, [tx.scope.environmentId, ids]);
}

const largestPlace = 2n ** 63n - 1n;

const ownersText = `
select v.id as "environmentId", v.tenant_id as "tenantId"
from environment v cross join lateral (
  select e.created_at from outbox_event e where e.environment_id = v.id and e.payload is not null order by e.created_at, e.id limit 1) oldest
where oldest.created_at < $1 order by oldest.created_at`;

const forgottenPlace = '(select forgotten_position from outbox_relay where environment_id = $1)';

const firstText = `
select e.id, f.feed_position::text as place, e.created_at < $2 as "isOld"
from outbox_feed f join outbox_event e on e.id = f.event_id
where f.environment_id = $1 and f.feed_position > ${forgottenPlace}
  and f.feed_position <= coalesce((select min(c.position) from webhook_cursor c where c.environment_id = $1), ${largestPlace})
order by f.feed_position limit $3 for update of e`;

const movedText = `
update outbox_relay set forgotten_position = $2::bigint, forgotten_before = greatest(forgotten_before, $3::timestamptz) where environment_id = $1`;

/** SQL that is true for an event `e` at the place `f` while its object waits at an endpoint, or a replay will come to it. */
const isWaitedFor = `exists (
  select from webhook_cursor c where c.environment_id = $1 and (
    exists (select from webhook_line l where l.endpoint_id = c.endpoint_id and l.entity_id = e.entity_id and l.next_sequence <= e.sequence)
    or exists (select from webhook_replay p where p.endpoint_id = c.endpoint_id and p.state = 'running'
      and p.position < f.feed_position and p.up_to_position >= f.feed_position)))`;

const freedText = `
select e.id from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
where e.environment_id = $1 and e.payload is not null and e.created_at < $2 and f.feed_position <= ${forgottenPlace} and not ${isWaitedFor}
order by e.created_at, e.id limit $3 for update of e`;

const columns = 'e.id, e.entity_id, e.sequence, e.event_name, f.feed_position';

// The last event of an object that an endpoint was due keeps its number, because the next one names it.
const forgetText = `
with forgotten as materialized (
  select ${columns} from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
  where e.environment_id = $1 and e.id = any($2) and not ${isWaitedFor}
), past as materialized (
  select ${columns} from (select distinct entity_id from forgotten) o
  join outbox_event e on e.environment_id = $1 and e.entity_id = o.entity_id and e.payload is null
  join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
  union all select * from forgotten
), needed as materialized (
  select distinct on (c.endpoint_id, p.entity_id) p.id from webhook_cursor c cross join past p
  where c.environment_id = $1 and ${isDue('p', 'p', 'c.endpoint_id')}
  order by c.endpoint_id, p.entity_id, p.sequence desc
), gone as materialized (
  select p.id, p.entity_id, p.sequence from past p where not exists (select from needed n where n.id = p.id)
), numbers as (
  update outbox_event e set payload = null from forgotten f where e.id = f.id and exists (select from needed n where n.id = f.id)
), bodies as (
  delete from outbox_body b using forgotten f where b.event_id = f.id
), attempts as (
  delete from webhook_delivery d using forgotten f where d.environment_id = $1 and d.event_id = f.id
), skips as (
  delete from webhook_skip s using webhook_cursor c, gone g
  where c.environment_id = $1 and s.endpoint_id = c.endpoint_id and s.entity_id = g.entity_id and s.sequence = g.sequence
), places as (
  delete from outbox_feed f using gone g where f.environment_id = $1 and f.event_id = g.id
)
delete from outbox_event e using gone g where e.id = g.id`;

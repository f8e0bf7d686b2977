import type { ScopedSql } from '../../db/transaction.ts';

/**
 * Gives the committed events of the scope's environment that have none a place in its feed: dense from 1, in the order they were
 * written, an object's always in the order of its `sequence`. It takes what this statement sees and the last one did not, so an event
 * whose transaction ended late comes later and is never skipped, whatever else is running. Whoever reads the feed calls it first; at
 * one time one does it, under the lock of the relay's row, so places become visible in their order. After a restore into another
 * cluster the transactions on the events say nothing: those without a place are found by it, once. Answers the last place.
 * design: people-and-events §A 1, 2
 */
export async function placeEvents(tx: ScopedSql): Promise<string> {
  const [relay] = await tx.rows<RelayRow>(standingText, [tx.scope.environmentId], 'outbox-relay-standing');
  if (relay && !relay.is_restored && !relay.has_fresh) return relay.last_position;
  const { environmentId, tenantId } = tx.scope;
  if (!relay) await tx.rows(firstText, [environmentId, tenantId]);
  const [locked] = await tx.rows<{ is_restored: boolean }>(lockText, [environmentId]);
  if (locked?.is_restored) await adoptRestored(tx);
  const [placed] = await tx.rows<{ last_position: string }>(placeText, [environmentId, tenantId], 'outbox-relay-place');
  return placed?.last_position ?? '0';
}

/** Places what a restore brought without a place, and parts all events from transactions of a cluster that is gone. */
async function adoptRestored(tx: ScopedSql): Promise<void> {
  const { environmentId, tenantId } = tx.scope;
  await tx.rows(partText, [environmentId]);
  await tx.rows(adoptText, [environmentId, tenantId]);
}

interface RelayRow {
  last_position: string;
  is_restored: boolean;
  has_fresh: boolean;
}

/** The oldest number a transaction can have: older than every running one, for ever. */
const longAgo = '3';
const nothingSeen = `${longAgo}:${longAgo}:`;
/** Snapshot that has seen events of long ago, and no others. */
const longAgoSeen = '4:4:';

const isRestored = `system_id <> (select system_identifier::text from pg_control_system())`;
/** Snapshot of the relay, which is read once. */
const seen = `
seen as materialized (
  select pg_snapshot_xmax(seen_snapshot::pg_snapshot) as ended, array(select pg_snapshot_xip(seen_snapshot::pg_snapshot)) as running
  from outbox_relay where environment_id = $1
)`;
const isOfOthers = 'e.transaction_id is distinct from pg_current_xact_id_if_assigned()';
const columns = 'e.id, e.entity_id, e.sequence, e.transaction_id, e.position';
/** The first event behind a place in the index of transactions: with its order and the limit nothing else is read, whatever is known of the table. */
const firstBehind = (condition: string) => `
  select ${columns} from outbox_event e where e.environment_id = $1 and ${condition} and ${isOfOthers}
  order by e.transaction_id, e.position limit 1`;
/** Events of one transaction that was under way. */
const ofRunning = `
  select ${columns} from seen cross join lateral unnest(seen.running) as t(id)
  cross join lateral (select * from outbox_event e where e.environment_id = $1 and e.transaction_id = t.id and ${isOfOthers} offset 0) e`;
/**
 * Events that the snapshot of the relay has not seen: those of transactions that began behind it, one after the other, and those of transactions
 * that were under way in it. What was placed is not read again, however long another transaction stays open.
 */
const unseen = `
${seen}, begun as (
  select * from (select b.* from seen cross join lateral (${firstBehind('e.transaction_id >= seen.ended')}) b) first
  union all
  select n.* from begun b cross join lateral (${firstBehind('(e.transaction_id, e.position) > (b.transaction_id, b.position)')}) n
), unseen as (
  select * from begun union all ${ofRunning}
)`;

const standingText = `
with ${seen}
select r.last_position::text as last_position, ${isRestored} as is_restored,
  exists (select from seen cross join lateral (${firstBehind('e.transaction_id >= seen.ended')}) b) or exists (${ofRunning}) as has_fresh
from outbox_relay r where r.environment_id = $1`;

const firstText = `
insert into outbox_relay (environment_id, tenant_id, last_position, seen_snapshot, system_id)
select $1, $2, 0, '${nothingSeen}', system_identifier::text from pg_control_system()
on conflict (environment_id) do nothing`;

const lockText = `select ${isRestored} as is_restored from outbox_relay where environment_id = $1 for update`;

// Two objects are in the order they were written, but an object's own order comes first: none of its events before an earlier one.
const placesOf = (events: string) => `
numbered as (
  insert into outbox_feed (environment_id, tenant_id, feed_position, event_id)
  select $1, $2, f.last_position + row_number() over (order by f.place, f.sequence), f.id
  from (
    select e.id, e.sequence, max(e.position) over (partition by e.entity_id order by e.sequence) as place, r.last_position
    from ${events} e join outbox_relay r on r.environment_id = $1) f
  returning feed_position
)`;

const placeText = `
with recursive ${unseen}, ${placesOf('unseen')}
update outbox_relay set last_position = last_position + (select count(*) from numbered), seen_snapshot = pg_current_snapshot()::text
where environment_id = $1 returning last_position::text as last_position`;

const partText = `update outbox_event set transaction_id = '${longAgo}'::xid8 where environment_id = $1 and transaction_id <> '${longAgo}'::xid8`;

const adoptText = `
with unplaced as (
  select ${columns} from outbox_event e
  where e.environment_id = $1 and e.transaction_id = '${longAgo}'::xid8 and not exists (select from outbox_feed f where f.environment_id = $1 and f.event_id = e.id)
), ${placesOf('unplaced')}
update outbox_relay set last_position = last_position + (select count(*) from numbered), was_restored = true,
  seen_snapshot = '${longAgoSeen}', system_id = (select system_identifier::text from pg_control_system())
where environment_id = $1`;

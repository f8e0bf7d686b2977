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
  const [placed] = await tx.rows<{ last_position: string }>(placeText, [environmentId, tenantId]);
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
const fresh = `e.environment_id = $1 and e.transaction_id >= pg_snapshot_xmin(r.seen_snapshot::pg_snapshot)
    and not pg_visible_in_snapshot(e.transaction_id, r.seen_snapshot::pg_snapshot)
    and e.transaction_id is distinct from pg_current_xact_id_if_assigned()`;

const standingText = `
select r.last_position::text as last_position, ${isRestored} as is_restored,
  exists (select from outbox_event e where ${fresh}) as has_fresh
from outbox_relay r where r.environment_id = $1`;

const firstText = `
insert into outbox_relay (environment_id, tenant_id, last_position, seen_snapshot, system_id)
select $1, $2, 0, '${nothingSeen}', system_identifier::text from pg_control_system()
on conflict (environment_id) do nothing`;

const lockText = `select ${isRestored} as is_restored from outbox_relay where environment_id = $1 for update`;

const placesOf = (source: string) => `
numbered as (
  insert into outbox_feed (environment_id, tenant_id, feed_position, event_id)
  select $1, $2, f.last_position + row_number() over (order by f.place, f.sequence), f.id from (${source}) f
  returning feed_position
)`;
// Two objects are in the order they were written, but an object's own order comes first: none of its events before an earlier one.
const place = `max(e.position) over (partition by e.entity_id order by e.sequence) as place`;

const placeText = `
with ${placesOf(`
  select e.id, e.sequence, ${place}, r.last_position from outbox_event e join outbox_relay r on r.environment_id = $1 where ${fresh}`)}
update outbox_relay set last_position = last_position + (select count(*) from numbered), seen_snapshot = pg_current_snapshot()::text
where environment_id = $1 returning last_position::text as last_position`;

const partText = `update outbox_event set transaction_id = '${longAgo}'::xid8 where environment_id = $1 and transaction_id <> '${longAgo}'::xid8`;

const adoptText = `
with ${placesOf(`
  select e.id, e.sequence, ${place}, r.last_position from outbox_event e join outbox_relay r on r.environment_id = $1
  where e.environment_id = $1 and e.transaction_id = '${longAgo}'::xid8 and not exists (select from outbox_feed f where f.environment_id = $1 and f.event_id = e.id)`)}
update outbox_relay set last_position = last_position + (select count(*) from numbered), was_restored = true,
  seen_snapshot = '${longAgoSeen}', system_id = (select system_identifier::text from pg_control_system())
where environment_id = $1`;

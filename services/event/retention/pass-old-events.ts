import type { ScopedSql } from '../../../db/transaction.ts';
import { placeEvents } from '../outbox-relay.ts';
import { beforeEvents, type DueEvent, dueEvents } from '../webhook/due-event.ts';
import { isPublished, isServed } from '../webhook/lease.ts';
import { waitingLines } from '../webhook/progress.ts';

/** Place of an endpoint that nobody sends to. */
interface Resting {
  endpointId: string;
  position: string;
  droppedPosition: string;
}

/**
 * Has the endpoints of this environment that nothing is sent to, because they are disabled or their environment or tenant is archived, go past
 * events that were created before an instant, `atOnce` of the feed at most for each: these are too old to be sent when the endpoint is enabled
 * again, so they are given up as they would be then, and the next event of their objects says so. Objects that wait keep their
 * events. Answers how many endpoints were moved. design: people-and-events §A 3, 4, B 17
 */
export async function passOldEvents(
  tx: ScopedSql,
  { before, atOnce }: { before: string; atOnce: number },
): Promise<number> {
  const { environmentId } = tx.scope;
  // People enable an endpoint under the same locks, in the same order.
  await tx.rows(endpointsText, [environmentId]);
  const resting = await tx.rows<Resting>(restingText, [environmentId, before]);
  for (const endpoint of resting) await passOne(tx, endpoint, { before, atOnce });
  return resting.length;
}

async function passOne(
  tx: ScopedSql,
  { endpointId, position: after, droppedPosition }: Resting,
  { before, atOnce }: { before: string; atOnce: number },
): Promise<void> {
  const end = BigInt(await placeEvents(tx));
  const page = await dueEvents(tx, { endpointId, after: BigInt(after), end, limit: atOnce });
  const newer = page.due.findIndex(({ createdAt }) => Date.parse(createdAt) >= Date.parse(before));
  const old = newer < 0 ? page.due : page.due.slice(0, newer);
  const position = newer < 0 ? page.scanned : (page.due[newer]?.place ?? 0n) - 1n;
  const waiting = new Set((await waitingLines(tx, endpointId)).map(({ entityId }) => entityId));
  await giveUp(
    tx,
    endpointId,
    old.filter(({ entityId }) => !waiting.has(entityId)),
    BigInt(droppedPosition),
  );
  // A sender of before, whose time is over, writes nothing any more.
  await tx.rows(movedText, [endpointId, String(position)]);
}

/** Notes that the endpoint does not get these events; of each object how many it does not get in a row. */
async function giveUp(tx: ScopedSql, endpointId: string, events: readonly DueEvent[], dropped: bigint): Promise<void> {
  if (events.length === 0) return;
  const first = [...Map.groupBy(events, ({ entityId }) => entityId).values()].flatMap(([event]) => event ?? []);
  const known = await beforeEvents(tx, endpointId, first);
  const counts = new Map([...known].map(([entityId, { skipped }]) => [entityId, skipped]));
  const consecutive = events.map(({ entityId }) => {
    const count = (counts.get(entityId) ?? 0) + 1;
    counts.set(entityId, count);
    return count;
  });
  const { tenantId, environmentId } = tx.scope;
  await tx.rows(skipText, [
    ...[endpointId, tenantId, environmentId],
    events.map(({ entityId }) => entityId),
    events.map(({ sequence }) => sequence),
    events.map(({ id }) => id),
    events.map(({ place }) => (place <= dropped ? 'dropped' : 'stale')),
    consecutive,
    new Date().toISOString(),
  ]);
}

const endpointsText = `
select from webhook_endpoint where environment_id = $1 and status = 'published' order by id for update`;

// Places are dense, so the event behind a cursor has the next one.
const restingText = `
select c.endpoint_id as "endpointId", c.position::text as position, c.dropped_position::text as "droppedPosition"
from webhook_cursor c
join outbox_feed f on f.environment_id = $1 and f.feed_position = c.position + 1
join outbox_event e on e.id = f.event_id and e.created_at < $2
where c.environment_id = $1 and not coalesce(${isServed}, false) and not ${isPublished('c.endpoint_id', 'e.enabled')}
order by c.endpoint_id for update of c`;

const movedText = `
update webhook_cursor set position = $2::bigint, epoch = epoch + 1, owner = null, leased_until = null where endpoint_id = $1`;

const skipText = `
insert into webhook_skip (endpoint_id, tenant_id, environment_id, entity_id, sequence, event_id, reason, consecutive, skipped_at)
select $1, $2, $3, t.*, $9::timestamptz from unnest($4::text[], $5::int[], $6::text[], $7::text[], $8::int[]) as t
on conflict (endpoint_id, entity_id, sequence) do nothing`;

import { refuse } from '../../../billing/refusal.ts';
import { WebhookReplay } from '../../../db/entities/event/webhook-replay.ts';
import { newId } from '../../../db/id.ts';
import { missing, refuseInvalid } from '../../../db/rows/record.ts';
import type { ScopedSql, Transaction } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { placeEvents } from '../outbox-relay.ts';
import { findEvent } from './event-list.ts';
import { isLacking } from './event-standing.ts';
import { lockSender } from './lease.ts';

/** Events that are to be sent again. */
export interface ReplayInput {
  /** Instant from which on events were written, and the one before which they were. */
  startTime: string;
  endTime: string;
  /** Types; empty for those the endpoint asks for now. */
  eventTypes: string[];
  /** True for those alone that the endpoint was due and that were given up. */
  onlyFailed: boolean;
  /** True to send them under new ids, which a receiver does not know yet. */
  newIds: boolean;
}

/**
 * Has the events of a time sent to an endpoint again, up to the present end of the feed. Without `onlyFailed` they need not have been due:
 * a new endpoint gets so what was before it. Throws `not_found`, `already_exists` while another replay of the endpoint is under way, and
 * `invalid_operation` for a disabled one. spec: platform §17.4; design: people-and-events §B 13, 22
 */
export async function startReplay(tx: Transaction, endpointId: string, input: ReplayInput): Promise<WebhookReplay> {
  const endpoint = await lockEndpoint(tx, endpointId);
  if (!endpoint.enabled) throw refuseInvalid('id', `webhook endpoint ${endpointId} is disabled; enable it first`);
  if (await tx.em.findOne(WebhookReplay, { endpointId, eventId: '', state: 'running' })) {
    throw refuse('already_exists', `a replay to ${endpointId} is under way; wait for its end, or cancel it first`);
  }
  await placeEvents(tx);
  const { startTime, endTime, onlyFailed, newIds } = input;
  const eventTypes = input.eventTypes.length > 0 ? input.eventTypes : onlyFailed ? [] : endpoint.event_types;
  const [found] = await tx.rows<{ count: number; position: string; upTo: string }>(
    onlyFailed ? measureFailedText : measureText,
    [tx.scope.environmentId, startTime, endTime, eventTypes, ...(onlyFailed ? [endpointId] : [])],
  );
  const { count, position, upTo } = found ?? nothing;
  const number = (await tx.em.count(WebhookReplay, { endpointId, eventId: '' })) + 1;
  const row = tx.em.create(WebhookReplay, {
    ...born(tx, endpointId),
    ...(count === 0 ? { state: 'completed', endedAt: new Date().toISOString() } : {}),
    startTime,
    endTime,
    eventTypes,
    onlyFailed,
    newIds,
    number,
    eventCount: count,
    position,
    upToPosition: upTo,
  });
  await tx.em.flush();
  await audit(tx, endpointId, 'replay started', { replay_id: row.id, count });
  return row;
}

/** The latest replay to an endpoint of this environment. Throws `not_found`. */
export async function latestReplay(tx: Transaction, endpointId: string): Promise<WebhookReplay> {
  const { environmentId } = tx.scope;
  const [row] = await tx.em.find(
    WebhookReplay,
    { environmentId, endpointId, eventId: '' },
    { orderBy: { id: 'desc' }, limit: 1 },
  );
  if (!row) throw missing('replay to webhook endpoint', endpointId);
  return row;
}

/**
 * Ends the replay to an endpoint that is under way. Answers whether a worker is sending to it, which may begin a request until it has looked
 * again. Throws `not_found`. design: people-and-events §B 21, 22
 */
export async function cancelReplay(tx: Transaction, endpointId: string): Promise<{ isServed: boolean }> {
  const [cancelled] = await tx.rows<{ id: string }>(
    `update webhook_replay set state = 'cancelled', ended_at = $3
     where environment_id = $1 and endpoint_id = $2 and event_id = '' and state = 'running' returning id`,
    [tx.scope.environmentId, endpointId, new Date().toISOString()],
  );
  if (!cancelled) throw missing('running replay to webhook endpoint', endpointId);
  await audit(tx, endpointId, 'replay cancelled', { replay_id: cancelled.id });
  return { isServed: await lockSender(tx, endpointId) };
}

/**
 * Has an event sent at once to every endpoint that was due it and has not got it, however old it is and however often it was tried. Answers
 * these endpoints. Throws `not_found`, and `invalid_operation` where no endpoint lacks it or those that do are disabled.
 * spec: platform §17.4; design: people-and-events §B 22
 */
export async function retryEvent(tx: Transaction, eventId: string): Promise<string[]> {
  const { standings } = await findEvent(tx, eventId);
  const lacking = standings.filter(isLacking);
  if (lacking.length === 0) throw refuseInvalid('system_event_id', `no webhook endpoint lacks ${eventId}`);
  const endpointIds = lacking.filter(({ isEnabled }) => isEnabled).map(({ endpointId }) => endpointId);
  if (endpointIds.length === 0) {
    const ids = lacking.map(({ endpointId }) => endpointId).join(', ');
    throw refuseInvalid('system_event_id', `${eventId} is lacking at ${ids} alone, where webhooks are disabled`);
  }
  const { tenantId, environmentId, actor } = tx.scope;
  for (const endpointId of endpointIds) {
    // An event that is asked for twice is sent once.
    await tx.rows(retryText, [
      newId(prefix),
      tenantId,
      environmentId,
      endpointId,
      eventId,
      new Date().toISOString(),
      actor,
    ]);
    await audit(tx, endpointId, 'event sent again', { event_id: eventId });
  }
  return endpointIds;
}

/** Work under way at an endpoint beside what it is sent by itself. */
export interface RunningReplays {
  /** The replay under way: events to send, and those sent so far; null where there is none. */
  replay: { eventCount: number; received: number; failed: number } | null;
  /** Single events that are to be sent again. */
  singles: number;
}

/** Replays to an endpoint that are under way. */
export async function runningReplays(tx: ScopedSql, endpointId: string): Promise<RunningReplays> {
  const rows = await tx.rows<{ isSingle: boolean; eventCount: number; received: number; failed: number }>(
    `select event_id <> '' as "isSingle", event_count as "eventCount", received, failed
     from webhook_replay where endpoint_id = $1 and state = 'running'`,
    [endpointId],
  );
  const replay = rows.find(({ isSingle }) => !isSingle) ?? null;
  return { replay, singles: rows.filter(({ isSingle }) => isSingle).length };
}

const prefix = 'wrp';
const nothing = { count: 0, position: '0', upTo: '0' };

async function lockEndpoint(tx: Transaction, id: string): Promise<{ enabled: boolean; event_types: string[] }> {
  const [endpoint] = await tx.rows<{ enabled: boolean; event_types: string[] }>(
    `select enabled, event_types from webhook_endpoint where environment_id = $1 and id = $2 and status = 'published' for update`,
    [tx.scope.environmentId, id],
  );
  if (!endpoint) throw missing('webhook endpoint', id);
  return endpoint;
}

function born({ scope: { tenantId, environmentId, actor } }: Transaction, endpointId: string) {
  const createdAt = new Date().toISOString();
  return {
    id: newId(prefix),
    tenantId,
    environmentId,
    endpointId,
    state: 'running',
    createdAt,
    createdBy: actor,
    endedAt: null,
  };
}

async function audit(tx: Transaction, objectId: string, action: string, detail: Record<string, unknown>) {
  const occurredAt = new Date().toISOString();
  await writeAudit(tx, tx.scope, [{ objectType: 'webhook_endpoint', objectId, action, occurredAt, detail }]);
}

const measured = `count(*)::int as count, coalesce(min(f.feed_position) - 1, 0)::text as position,
  coalesce(max(f.feed_position), 0)::text as "upTo"`;
const wanted = `e.environment_id = $1 and e.payload is not null and e.created_at >= $2 and e.created_at < $3
  and case when cardinality($4::text[]) = 0 then e.event_name <> 'event.rejected' else e.event_name = any($4) end`;

const measureText = `
select ${measured} from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id where ${wanted}`;

const measureFailedText = `
select ${measured} from webhook_skip s
join outbox_event e on e.id = s.event_id join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
where s.endpoint_id = $5 and s.received_at is null and ${wanted}`;

const retryText = `
insert into webhook_replay (id, tenant_id, environment_id, endpoint_id, event_id, state, event_types, number, event_count, position, up_to_position, created_at, created_by)
select $1, $2, $3, $4, $5, 'running', '{}', 0, 1, f.feed_position - 1, f.feed_position, $6, $7
from outbox_feed f join outbox_event e on e.id = f.event_id
where f.environment_id = $3 and f.event_id = $5 and e.payload is not null for share of e
on conflict (endpoint_id, event_id) where state = 'running' do nothing`;

import type { WebhookEndpoint } from '../../../db/entities/event/webhook-endpoint.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { EndpointPause, EndpointReception } from './progress.ts';

/** Endpoints are shared out by a hash of their ids. */
export interface Shard {
  shard: number;
  shards: number;
}

/** An endpoint as its sender needs it. */
export type LeasedEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'tenantId' | 'environmentId' | 'url' | 'onExhausted' | 'secretKeyId' | 'secretNonce' | 'secretCiphertext'
> & {
  epoch: number;
  /** Changes with every change of the endpoint. */
  revision: string;
  position: string;
  createdPosition: string;
  rateLimit: number | null;
  /** Place up to which nothing is sent. */
  droppedPosition: string;
  pause: EndpointPause | null;
  /** Ids of the replays that are under way, separated by commas. */
  replays: string;
  reception: EndpointReception;
};

/** Endpoints of one sender as they are, or null where they are what the sender knows. */
export interface Leased {
  /** Sum over the endpoints and their changes: equal sums, equal endpoints. */
  digest: string;
  endpoints: LeasedEndpoint[] | null;
  /** True while test events wait for endpoints of the shard. */
  hasTests: boolean;
}

/**
 * Makes `owner` the one sender of the enabled endpoints of a shard that have none, or whose sender's time is over, for `leaseMs` of the
 * database's clock; with `all` of those too whose sender has some left, because its step is known to have ended; with `prolong` those it has
 * are prolonged. An archived endpoint, environment or tenant has none. design: people-and-events §A 6, B 24
 */
export async function leaseEndpoints(
  sql: Sql,
  { owner, shard, leaseMs, ...which }: { owner: string; shard: Shard; leaseMs: number; all: boolean; prolong: boolean },
): Promise<void> {
  const { all, prolong } = which;
  await sql.rows(leaseText, [owner, shard.shard, shard.shards, leaseMs, prolong, all], 'webhook-lease');
}

/** The endpoints that `owner` is the sender of and may go on sending to; `known` is the digest of the last look. */
export async function leasedEndpoints(sql: Sql, owner: string, shard: Shard, known: string): Promise<Leased> {
  const rows = await sql.rows<LeasedRow>(leasedText, [owner, shard.shard, shard.shards, known], 'webhook-leased');
  const { digest = '', hasTests = false } = rows[0] ?? {};
  if (digest === known) return { digest, endpoints: null, hasTests };
  return { digest, endpoints: rows.filter(({ id }) => id !== null).map(leasedEndpoint), hasTests };
}

/**
 * True while a worker is the sender of an endpoint. No other becomes it before the transaction ends: each that does later sees what the
 * transaction changed. design: people-and-events §B 21
 */
export async function lockSender(sql: Sql, endpointId: string): Promise<boolean> {
  const [cursor] = await sql.rows<{ isServed: boolean }>(
    `select coalesce(${isServed}, false) as "isServed" from webhook_cursor c where c.endpoint_id = $1 for no key update`,
    [endpointId],
  );
  return cursor?.isServed ?? false;
}

/** True while a worker sends a test event to an endpoint; until the transaction ends no worker takes another of it. */
export async function lockTestSender(sql: Sql, endpointId: string): Promise<boolean> {
  const tests = await sql.rows<{ isTaken: boolean }>(
    `select coalesce(${isTestTaken}, false) as "isTaken" from webhook_test w
     where w.endpoint_id = $1 and w.sent_at is null order by w.id for no key update`,
    [endpointId],
  );
  return tests.some(({ isTaken }) => isTaken);
}

/** Lets others have an endpoint at once. */
export async function releaseEndpoint(sql: Sql, { id, epoch }: { id: string; epoch: number }): Promise<void> {
  await sql.rows('update webhook_cursor set owner = null, leased_until = null where endpoint_id = $1 and epoch = $2', [
    id,
    epoch,
  ]);
}

type LeasedRow = Omit<LeasedEndpoint, 'pause' | 'reception'> &
  EndpointReception & {
    digest: string;
    hasTests: boolean;
    pauseReason: EndpointPause['reason'] | null;
    pausedUntil: string | null;
  };

function leasedEndpoint({ digest: _, hasTests: __, pauseReason, pausedUntil, ...row }: LeasedRow): LeasedEndpoint {
  const isPaused = pauseReason !== null && pausedUntil !== null;
  const { receivedAt, failedAt, failure, silentSince, failingSince, failures, ...endpoint } = row;
  const reception = {
    receivedAt: receivedAt && instantText(receivedAt),
    failedAt: failedAt && instantText(failedAt),
    failure,
    silentSince: silentSince && instantText(silentSince),
    failingSince: failingSince && instantText(failingSince),
    failures,
  };
  return { ...endpoint, reception, pause: isPaused ? { reason: pauseReason, until: instantText(pausedUntil) } : null };
}

/** SQL that is true while a cursor `c` has a sender. */
export const isServed = 'c.leased_until > now()';

/** SQL that is true while a worker is sending a test event `w`, and while one waits for a worker. */
export const isTestTaken = 'w.sent_at is null and w.taken_until > now()';
export const isTestFree = 'w.sent_at is null and (w.taken_until is null or w.taken_until < now())';

/** SQL of the instant so many milliseconds from now, by the database's clock. */
export const fromNow = (milliseconds: string) => `now() + ${milliseconds} * interval '1 ms'`;

/** SQL that is true where the endpoint of this id belongs to the shard; the other two give its number and that of all. */
export const shardOf = (endpointId: string, shard: string, shards: string) =>
  `mod(abs(hashtext(${endpointId})::bigint), ${shards}) = ${shard}`;

/** SQL that is true where neither the endpoint of this id nor its environment or tenant is archived, and `also` holds for it as `e`. */
export const isPublished = (endpointId: string, also = 'true') => `exists (
  select from webhook_endpoint e
  join environment v on v.id = e.environment_id and v.status = 'published'
  join tenant t on t.id = e.tenant_id and t.status = 'published'
  where e.id = ${endpointId} and e.status = 'published' and ${also})`;

const ofShard = shardOf('c.endpoint_id', '$2', '$3');
const mayBeSent = isPublished('c.endpoint_id', 'e.enabled');

const leaseText = `
update webhook_cursor c set owner = $1, epoch = c.epoch + (c.owner is distinct from $1)::int, leased_until = ${fromNow('$4')}
where ${ofShard} and (c.owner is null or c.leased_until < now() or (c.owner = $1 and $5) or $6) and ${mayBeSent}`;

const hasTests = `exists (
  select from webhook_test w where ${isTestFree}
    and ${shardOf('w.endpoint_id', '$2', '$3')} and ${isPublished('w.endpoint_id')})`;

// At least one row comes, with the digest; the endpoints come with it where the digest is not the known one.
const leasedText = `
with mine as (
  select c.endpoint_id, c.epoch from webhook_cursor c
  where c.owner = $1 and ${isServed} and ${ofShard} and ${mayBeSent}),
running as (
  select endpoint_id, string_agg(id, ',' order by id) as ids from webhook_replay where state = 'running' group by endpoint_id),
digest as (
  select count(*) || ':' || coalesce(sum(hashtextextended(concat_ws(' ', e.id, m.epoch, e.updated_at, r.ids), 0)), 0) as digest
  from mine m join webhook_endpoint e on e.id = m.endpoint_id left join running r on r.endpoint_id = m.endpoint_id)
select d.digest, ${hasTests} as "hasTests", e.id, e.tenant_id as "tenantId", e.environment_id as "environmentId", e.url, e.on_exhausted as "onExhausted",
  e.rate_limit as "rateLimit", e.secret_key_id as "secretKeyId", e.secret_nonce as "secretNonce", e.secret_ciphertext as "secretCiphertext",
  m.epoch, concat_ws(' ', e.updated_at, r.ids) as revision, coalesce(r.ids, '') as replays, c.position::text as position,
  c.created_position::text as "createdPosition", c.dropped_position::text as "droppedPosition",
  c.pause_reason as "pauseReason", c.paused_until as "pausedUntil",
  c.received_at as "receivedAt", c.failed_at as "failedAt", c.failure, c.silent_since as "silentSince",
  c.failing_since as "failingSince", c.failures
from digest d left join (mine m join webhook_endpoint e on e.id = m.endpoint_id join webhook_cursor c on c.endpoint_id = m.endpoint_id
  left join running r on r.endpoint_id = m.endpoint_id) on d.digest <> $4`;

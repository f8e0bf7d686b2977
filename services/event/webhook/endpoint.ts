import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { realNow } from '../../../db/clock.ts';
import { WebhookCursor } from '../../../db/entities/event/webhook-cursor.ts';
import { WebhookEndpoint } from '../../../db/entities/event/webhook-endpoint.ts';
import { WebhookFilter } from '../../../db/entities/event/webhook-filter.ts';
import { WebhookLine } from '../../../db/entities/event/webhook-line.ts';
import { WebhookReplay } from '../../../db/entities/event/webhook-replay.ts';
import { WebhookSkip } from '../../../db/entities/event/webhook-skip.ts';
import { WebhookTest } from '../../../db/entities/event/webhook-test.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing, newRecord, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { EnvelopeKey } from '../../platform/sealed-secret.ts';
import { placeEvents } from '../outbox-relay.ts';
import { disabledMembers, resumeEndpoint } from './enabling.ts';
import {
  type EndpointSecrets,
  newSigningSecret,
  openEndpoint,
  rotatedSecrets,
  type SigningSecret,
  sealEndpoint,
  signingSecrets,
} from './endpoint-secret.ts';
import { lockEndpoints } from './endpoints-lock.ts';
import { lockSender, lockTestSender } from './lease.ts';
import { type EndpointStart, startPosition } from './start-position.ts';

/** Members of an endpoint as people give them. */
export interface EndpointInput {
  url: string;
  description: string;
  /** Empty for all types but `event.rejected`. */
  eventTypes: string[];
  enabled: boolean;
  onExhausted: 'skip' | 'hold';
  /** Requests that begin within a second at most; null for no limit. */
  rateLimit: number | null;
  /** Values by name, in lower case. */
  headers: Record<string, string>;
  metadata: Record<string, string>;
}

export interface NewEndpoint extends EndpointInput {
  /** Secret of the receiver's own; made here when it is null. */
  secret: string | null;
  start: EndpointStart;
}

/** Changes; an absent member stays. The headers are a function of those there are. */
export type EndpointChange = Partial<Omit<EndpointInput, 'headers'>> & {
  headers?: (current: EndpointSecrets['headers']) => EndpointSecrets['headers'];
  /** With `enabled`: place from which it gets events; absent for the one where it stopped. */
  resumeFrom?: 'now';
};

/** A worker begins no request later than this after its last look at the endpoint. design: people-and-events §B 21 */
export const fenceMs = 1_000;

/** Most endpoints of an environment. spec: platform §17.4 */
export const mostEndpoints = 20;

/**
 * Makes an endpoint, which gets what commits behind the present end of the feed, all of it, or what was created since an instant. Answers its secret too, which is shown
 * once. Throws `invalid_operation` for more than 20, and `not_implemented` without a key to seal its secrets with.
 * spec: platform §17.4; design: people-and-events §B 15
 */
export async function createEndpoint(
  tx: Transaction,
  keys: readonly EnvelopeKey[],
  { secret: own, start, headers, ...members }: NewEndpoint,
): Promise<{ row: WebhookEndpoint; secret: string }> {
  const { environmentId, tenantId } = tx.scope;
  await lockEndpoints(tx);
  if ((await tx.em.count(WebhookEndpoint, { environmentId, status: 'published' })) >= mostEndpoints) {
    throw refuse(
      'invalid_operation',
      `an environment has ${mostEndpoints} webhook endpoints at most; delete one first`,
    );
  }
  const secret = own ?? newSigningSecret();
  const row = tx.em.create(WebhookEndpoint, {
    ...newRecord(tx, 'wep'),
    ...members,
    ...disabledMembers(members.enabled, null),
    headerNames: Object.keys(headers).sort(),
    secretKeyId: null,
    secretNonce: null,
    secretCiphertext: null,
  });
  sealEndpoint(keys, row, { secret, headers });
  const { position, end } = await startPosition(tx, start);
  const owner = { endpointId: row.id, tenantId, environmentId };
  tx.em.create(WebhookCursor, { ...owner, position, createdPosition: end, droppedPosition: '0' });
  tx.em.create(WebhookFilter, { ...owner, fromPosition: position, eventTypes: row.eventTypes });
  await tx.em.flush();
  await audit(tx, row, 'created');
  return { row, secret };
}

/** A published endpoint of this environment. Throws `not_found`. */
export async function findEndpoint(tx: Transaction, id: string): Promise<WebhookEndpoint> {
  const row = await tx.em.findOne(WebhookEndpoint, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('webhook endpoint', id);
  return row;
}

const endpointList: ListDefinition<WebhookEndpoint> = { entity: WebhookEndpoint, columns: { url: 'string' } };

/** Page of endpoints. spec: platform §17.4 */
export function listEndpoints(tx: Transaction, query: ListQuery): Promise<ListPage<WebhookEndpoint>> {
  return listPage(tx, endpointList, query, {});
}

/**
 * Changes an endpoint. Other types hold for what comes behind the present end of the feed; another URL and other headers for the next
 * attempt; one that is enabled again goes on where it stopped, or behind the present end of the feed. Secrets that are under an older key are
 * sealed anew. Answers whether a worker is sending to another URL, which may begin a request there until it has looked again. Throws `not_found`. spec: platform §17.4; design: people-and-events §A 4, B 19, 21
 */
export async function updateEndpoint(
  tx: Transaction,
  keys: readonly EnvelopeKey[],
  id: string,
  { headers, resumeFrom, ...members }: EndpointChange,
): Promise<{ row: WebhookEndpoint; isServedElsewhere: boolean }> {
  const row = await lockEndpoint(tx, id);
  const isMoved = members.url !== undefined && members.url !== row.url;
  const isServedElsewhere = isMoved && (await hasSender(tx, id));
  const changed: string[] = Object.keys(members);
  if (headers || row.secretKeyId !== keys[0]?.id) {
    const current = openEndpoint(keys, row);
    const next = headers?.(current.headers) ?? current.headers;
    sealEndpoint(keys, row, { ...current, headers: next });
    row.headerNames = Object.keys(next).sort();
    if (headers) changed.push('headers');
  }
  if (members.eventTypes) await putFilter(tx, row, members.eventTypes);
  const { enabled } = members;
  if (enabled && (!row.enabled || resumeFrom)) await resumeEndpoint(tx, id, resumeFrom === 'now');
  if (resumeFrom) changed.push('resumeFrom');
  Object.assign(row, members, enabled === undefined ? {} : disabledMembers(enabled, row));
  if (changed.length > 0) {
    touch(tx, row);
    await tx.em.flush();
    await audit(tx, row, 'updated', { changed: changed.map(wireName).sort() });
  }
  return { row, isServedElsewhere };
}

/** Has other types hold for what is placed from now on; of two changes at one place the last holds. */
async function putFilter(tx: Transaction, { id, tenantId, environmentId }: WebhookEndpoint, types: string[]) {
  await tx.rows(
    `insert into webhook_filter (endpoint_id, from_position, tenant_id, environment_id, event_types) values ($1, $2, $3, $4, $5)
     on conflict (endpoint_id, from_position) do update set event_types = excluded.event_types`,
    [id, await placeEvents(tx), tenantId, environmentId, types],
  );
}

/**
 * Archives an endpoint and forgets its secrets, its place in the feed and what waited for it. Answers whether a worker is sending to it,
 * which may begin a request until it has looked again. Throws `not_found`. spec: platform §17.4; design: people-and-events §B 21
 */
export async function deleteEndpoint(tx: Transaction, id: string): Promise<{ isServed: boolean }> {
  const row = await lockEndpoint(tx, id);
  const served = await hasSender(tx, id);
  Object.assign(row, { status: 'archived', secretKeyId: null, secretNonce: null, secretCiphertext: null });
  touch(tx, row);
  await tx.em.nativeDelete(WebhookCursor, { endpointId: id });
  await tx.em.nativeDelete(WebhookFilter, { endpointId: id });
  await tx.em.nativeDelete(WebhookLine, { endpointId: id });
  await tx.em.nativeDelete(WebhookSkip, { endpointId: id });
  const cancelled = { state: 'cancelled', endedAt: row.updatedAt };
  await tx.em.nativeUpdate(WebhookReplay, { endpointId: id, state: 'running' }, cancelled);
  await tx.em.nativeDelete(WebhookTest, { endpointId: id });
  await tx.em.flush();
  await audit(tx, row, 'deleted');
  return { isServed: served };
}

/**
 * Has another secret sign, one made here unless one is brought, and the present one for 24 hours of real time beside it, or no former one any
 * more with `expireOldNow`. Answers those that sign, and whether a worker is sending, which signs as before until it has looked again.
 * Throws `not_found`, `invalid_operation` where three sign already, and `validation_error` for one that signs already.
 * spec: platform §17.4; design: people-and-events §B 21
 */
export async function rotateSecret(
  tx: Transaction,
  keys: readonly EnvelopeKey[],
  id: string,
  { secret = newSigningSecret(), expireOldNow }: { secret: string | undefined; expireOldNow: boolean },
): Promise<{ secrets: SigningSecret[]; isServed: boolean }> {
  const row = await lockEndpoint(tx, id);
  const nowMs = Date.parse(realNow());
  const secrets = rotatedSecrets(openEndpoint(keys, row), { secret, expireOldNow }, nowMs);
  sealEndpoint(keys, row, secrets);
  touch(tx, row);
  await tx.em.flush();
  await audit(tx, row, 'secret rotated', { expire_old_now: expireOldNow });
  return { secrets: signingSecrets(secrets, nowMs), isServed: await hasSender(tx, id) };
}

/** True while a worker sends events or test events to the endpoint; until the transaction ends no other begins to. */
async function hasSender(tx: Transaction, endpointId: string): Promise<boolean> {
  const isSent = await lockSender(tx, endpointId);
  const isTested = await lockTestSender(tx, endpointId);
  return isSent || isTested;
}

/** A published endpoint of this environment, which nobody else changes until the transaction ends. Throws `not_found`. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<WebhookEndpoint> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const row = await tx.em.findOne(WebhookEndpoint, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!row) throw missing('webhook endpoint', id);
  return row;
}

function wireName(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

async function audit(tx: Transaction, row: WebhookEndpoint, action: string, detail: Record<string, unknown> = {}) {
  await writeAudit(tx, tx.scope, [
    { objectType: 'webhook_endpoint', objectId: row.id, action, occurredAt: row.updatedAt, detail },
  ]);
}

import { refuse } from '../../../billing/refusal.ts';
import { WebhookTest } from '../../../db/entities/event/webhook-test.ts';
import { newId } from '../../../db/id.ts';
import type { Sql, Transaction } from '../../../db/transaction.ts';
import { lockEndpoint } from './endpoint.ts';
import type { SealedEndpoint } from './endpoint-secret.ts';
import { fromNow, isPublished, isTestFree, type Shard, shardOf } from './lease.ts';

/** Test events of one endpoint that wait at one time. */
const mostWaiting = 10;

/**
 * Keeps a test event that a worker sends to an endpoint within about a second, also to a disabled one. `body` is the JSON that is sent.
 * Throws `not_found`, and `invalid_operation` while ten wait. Answers the id its receiver gets. spec: platform §17.4; design: people-and-events §B 23
 */
export async function createTestEvent(
  tx: Transaction,
  endpointId: string,
  { eventType, body }: { eventType: string; body: string },
): Promise<string> {
  await lockEndpoint(tx, endpointId);
  if ((await tx.em.count(WebhookTest, { endpointId, sentAt: null })) >= mostWaiting) {
    throw refuse('invalid_operation', `${mostWaiting} test events wait to be sent to webhook endpoint ${endpointId}`);
  }
  await tx.em.nativeDelete(WebhookTest, { endpointId, sentAt: { $ne: null } });
  const { tenantId, environmentId, actor } = tx.scope;
  const owner = { endpointId, tenantId, environmentId, createdBy: actor };
  const id = newId('test');
  tx.em.create(WebhookTest, {
    ...{ id, ...owner, eventType, body, createdAt: new Date().toISOString() },
    ...{ takenUntil: null, sentAt: null, failure: null },
  });
  await tx.em.flush();
  return id;
}

/** A test event that a worker has taken, with its endpoint. */
export interface TakenTestEvent {
  id: string;
  body: string;
  url: string;
  endpoint: SealedEndpoint;
}

/**
 * Gives a worker the test events that wait for endpoints of a shard, for `takenMs` of the database's clock; those of a worker that died are
 * taken again after that. An archived endpoint, environment or tenant gets none. design: people-and-events §B 23, 24
 */
export async function takeTestEvents(
  sql: Sql,
  { shard, shards }: Shard,
  { limit, takenMs }: { limit: number; takenMs: number },
): Promise<TakenTestEvent[]> {
  const rows = await sql.rows<SealedEndpoint & { testId: string; body: string; url: string }>(
    takeText,
    [shard, shards, limit, takenMs],
    'webhook-test-take',
  );
  return rows.map(({ testId, body, url, ...endpoint }) => ({ id: testId, body, url, endpoint }));
}

/** Notes how the one attempt of a test event ended: with null it was received. */
export async function settleTestEvent(sql: Sql, id: string, failure: string | null): Promise<void> {
  const values = [id, new Date().toISOString(), failure];
  await sql.rows('update webhook_test set sent_at = $2, failure = $3 where id = $1 and sent_at is null', values);
}

/** Gives a test event back that was not sent, so that another worker takes it. */
export async function returnTestEvent(sql: Sql, id: string): Promise<void> {
  await sql.rows('update webhook_test set taken_until = null where id = $1 and sent_at is null', [id]);
}

const takeText = `
with waiting as (
  select w.id from webhook_test w
  where ${isTestFree} and ${shardOf('w.endpoint_id', '$1', '$2')} and ${isPublished('w.endpoint_id')}
  order by w.created_at limit $3 for update of w skip locked)
update webhook_test t set taken_until = ${fromNow('$4')}
from waiting w, webhook_endpoint e
where t.id = w.id and e.id = t.endpoint_id
returning t.id as "testId", t.body, e.url, e.id, e.tenant_id as "tenantId", e.environment_id as "environmentId",
  e.secret_key_id as "secretKeyId", e.secret_nonce as "secretNonce", e.secret_ciphertext as "secretCiphertext"`;

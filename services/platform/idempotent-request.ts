import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** An `Idempotency-Key` with the hash of the request it came with. */
export interface IdempotencyKey {
  key: string;
  requestHash: string;
}

export interface StoredAnswer {
  statusCode: number;
  body: string;
}

/** Instead of an answer: another request is using the key. */
export const keyInUse = Symbol('Idempotency-Key in use');

/** Status of a row whose operation is under way; its body is the instant until which that counts. */
const underWay = 0;

interface Row {
  request_hash: string;
  status_code: number;
  body: string;
  created_at: string;
}

/**
 * The answer already given to the key, or null when this transaction is the one that gives it. The key stays locked until
 * the transaction ends. `keyInUse` when another request has it. Throws `already_exists` when it was used with another body.
 * spec: platform §1.7; design: architecture §5
 */
export async function answerFor(
  sql: Sql,
  scope: Scope,
  key: IdempotencyKey,
): Promise<StoredAnswer | typeof keyInUse | null> {
  const [lock] = await sql.rows<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [`idempotency ${scope.environmentId} ${key.key}`],
  );
  if (!lock?.locked) return keyInUse;
  const row = await find(sql, scope, key);
  if (!row) return null;
  if (row.status_code === underWay) return keyInUse;
  return { statusCode: row.status_code, body: row.body };
}

/** Keeps the answer in the transaction of the effect. */
export async function storeAnswer(sql: Sql, scope: Scope, key: IdempotencyKey, answer: StoredAnswer): Promise<void> {
  await sql.rows(
    `insert into idempotent_request (environment_id, key, request_hash, status_code, body, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (environment_id, key) do update set status_code = excluded.status_code, body = excluded.body`,
    [scope.environmentId, key.key, key.requestHash, answer.statusCode, answer.body, realNow()],
  );
}

/**
 * Claims the key for an operation that spans transactions. The claim lapses at `until`, so that a retry after a crash goes
 * on with the same ids: they are derived from `claimedAt`, the instant of the first claim. `keyInUse` when another request has it.
 */
export async function claimKey(
  sql: Sql,
  scope: Scope,
  key: IdempotencyKey,
  until: string,
): Promise<{ claimedAt: string } | StoredAnswer | typeof keyInUse> {
  const now = realNow();
  const [claimed] = await sql.rows<{ created_at: string }>(
    `insert into idempotent_request (environment_id, key, request_hash, status_code, body, created_at)
     values ($1, $2, $3, ${underWay}, $4, $5)
     on conflict (environment_id, key) do update set body = excluded.body
     where idempotent_request.status_code = ${underWay} and idempotent_request.request_hash = excluded.request_hash
       and idempotent_request.body <= $6
     returning created_at`,
    // The instant as text once more: the cast of a timestamptz has another form, which no claim of the day would precede.
    [scope.environmentId, key.key, key.requestHash, until, now, now],
  );
  if (claimed) return { claimedAt: instantText(claimed.created_at) };
  const row = await find(sql, scope, key);
  if (!row || row.status_code === underWay) return keyInUse;
  return { statusCode: row.status_code, body: row.body };
}

/** Lets a claim lapse later, while its operation is still under way. */
export async function renewClaim(sql: Sql, scope: Scope, key: IdempotencyKey, until: string): Promise<void> {
  await sql.rows(
    `update idempotent_request set body = $3 where environment_id = $1 and key = $2 and status_code = ${underWay} and body <> ''`,
    [scope.environmentId, key.key, until],
  );
}

/** Gives a claim up after a refusal, so that the caller can try again at once. */
export async function releaseKey(sql: Sql, scope: Scope, key: IdempotencyKey): Promise<void> {
  await sql.rows(
    `update idempotent_request set body = '' where environment_id = $1 and key = $2 and status_code = ${underWay}`,
    [scope.environmentId, key.key],
  );
}

async function find(sql: Sql, scope: Scope, key: IdempotencyKey): Promise<Row | null> {
  const [row] = await sql.rows<Row>(
    'select request_hash, status_code, body, created_at from idempotent_request where environment_id = $1 and key = $2',
    [scope.environmentId, key.key],
  );
  if (row && row.request_hash !== key.requestHash) {
    throw refuse('already_exists', 'This Idempotency-Key was used with another request.');
  }
  return row ?? null;
}

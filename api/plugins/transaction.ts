import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { derivedId, newId } from '../../db/id.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import {
  answerFor,
  claimKey,
  type IdempotencyKey,
  keyInUse,
  releaseKey,
  renewClaim,
  storeAnswer,
} from '../../services/platform/idempotent-request.ts';
import { AnsweredBefore, errorText } from '../errors.ts';
import { isMutating } from './authentication.ts';

type Idempotency = 'record' | 'lifecycle' | 'none';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How an `Idempotency-Key` is kept. `record` (default): in the transaction of `request.transaction`. `lifecycle`: the
     * key is claimed before the handler, ids come from `request.newId`, the answer is kept after success. `none`: the
     * operation has its own keys (event ingestion). A function of the body where an operation is the one or the other.
     */
    idempotency?: Idempotency | ((body: unknown) => Idempotency);
    /** The one success status of the route, taken from its response schema. */
    successStatus?: number;
  }
  interface FastifyRequest {
    /**
     * Runs `work` in one transaction of the request's scope. In a mutating record route the returned value is the answer:
     * it is kept with the effect under the `Idempotency-Key`, and given again to the same request.
     */
    transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
    /** A new id; in a lifecycle route with an `Idempotency-Key` the id that its first try made. */
    newId(prefix: string): string;
    /** The header, where it is in force: for operations whose body has an `idempotency_key` of its own, as its fallback. */
    idempotencyKey: string | null;
    readonly temporal: Client;
  }
}

/** A claim is renewed while its request is under way; after a crash a retry waits this long at most. */
const claimMs = 10_000;
const renewalMs = 3_000;
/** A request with a key that another is using waits this long for its answer, looking ever less often. */
const patienceMs = 5_000;
const firstLookMs = 20;
const rarestLookMs = 500;
const maxKeyLength = 255;

/** A key in force for one request, and for a lifecycle route the instant of its first claim. */
interface KeyInForce extends IdempotencyKey {
  claimedAt: string | null;
  renewal?: NodeJS.Timeout;
}

/** `request.transaction`, `request.newId`, the success status, and the `Idempotency-Key`. spec: platform §1.6, §1.7 */
export function registerTransactions(app: FastifyInstance): void {
  const keys = new WeakMap<FastifyRequest, KeyInForce>();
  app.decorateRequest('transaction');
  app.decorateRequest('newId');
  app.decorateRequest('idempotencyKey', null);
  app.decorateRequest('temporal', {
    getter() {
      return app.dependencies.temporal;
    },
  });
  app.addHook('onRoute', noteSuccessStatus);

  // Before validation: the hash covers what was sent, not what the schema made of it.
  app.addHook('preValidation', async (request) => {
    const key = keyOf(request);
    if (!key) return;
    keys.set(request, { ...key, claimedAt: null });
    request.idempotencyKey = key.key;
  });

  app.addHook('preHandler', async (request, reply) => {
    const key = keys.get(request);
    const isLifecycle = idempotencyOf(request) === 'lifecycle';
    void reply.code(request.routeOptions.config.successStatus ?? 200);
    request.transaction = (work) => runTransaction(request, reply, isLifecycle ? undefined : key, work);
    request.newId = idSource(request, key);
    if (key && isLifecycle) await claim(request, key);
  });

  // Before the answer leaves: what was not stored could be done twice.
  app.addHook('onSend', async (request, reply, payload) => {
    const key = keys.get(request);
    if (!key?.claimedAt) return;
    clearInterval(key.renewal);
    const { database } = app.dependencies;
    const done = reply.statusCode < 300;
    const answer = { statusCode: reply.statusCode, body: typeof payload === 'string' ? payload : '' };
    const noted = inSqlTransaction(database, request.scope, (tx) =>
      done ? storeAnswer(tx, request.scope, key, answer) : releaseKey(tx, request.scope, key),
    );
    if (done) await noted;
    // A refusal or failure is told even while the database is away: the claim lapses by itself.
    else await noted.catch((err: unknown) => request.log.warn({ err }, 'a claim was not released'));
  });
}

async function runTransaction<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  key: IdempotencyKey | undefined,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { database } = request.server.dependencies;
  if (!key) return inTransaction(database, request.scope, work);
  return whenFree(() =>
    inTransaction(database, request.scope, async (tx) => {
      const given = await answerFor(tx, request.scope, key);
      if (given === keyInUse) return keyInUse;
      if (given) throw new AnsweredBefore(given.statusCode, given.body);
      const result = await work(tx);
      // A credential is shown once: the retry is told so, instead of the text being kept.
      const answer = request.routeOptions.config.carriesCredential
        ? shownOnce
        : { statusCode: reply.statusCode, body: result === undefined ? '' : String(reply.serialize(result)) };
      await storeAnswer(tx, request.scope, key, answer);
      return result;
    }),
  );
}

/**
 * Asks again until no other request is using the key: who sends the same twice at once gets the same answer twice. It holds no
 * connection while it waits. Throws `already_exists` when the other takes too long.
 */
async function whenFree<T>(attempt: () => Promise<T | typeof keyInUse>): Promise<T> {
  const end = performance.now() + patienceMs;
  for (let pauseMs = firstLookMs; ; pauseMs = Math.min(pauseMs * 2, rarestLookMs)) {
    const outcome = await attempt();
    if (outcome !== keyInUse) return outcome;
    if (performance.now() + pauseMs > end)
      throw refuse('already_exists', 'A request with this Idempotency-Key is under way.');
    await delay(pauseMs);
  }
}

const shownOnce = {
  statusCode: 409,
  body: errorText({
    code: 'already_exists',
    status: 409,
    message: 'A request with this Idempotency-Key was done already; a credential is shown only once.',
  }),
};

async function claim(request: FastifyRequest, key: KeyInForce): Promise<void> {
  const { database } = request.server.dependencies;
  const until = () => new Date(Date.now() + claimMs).toISOString();
  const outcome = await whenFree(() =>
    inSqlTransaction(database, request.scope, (tx) => claimKey(tx, request.scope, key, until())),
  );
  if ('statusCode' in outcome) throw new AnsweredBefore(outcome.statusCode, outcome.body);
  key.claimedAt = outcome.claimedAt;
  key.renewal = setInterval(() => {
    // A renewal that fails is followed by another; a claim that lapses meets workflows that do nothing twice.
    inSqlTransaction(database, request.scope, (tx) => renewClaim(tx, request.scope, key, until())).catch(
      (err: unknown) => request.log.warn({ err }, 'a claim was not renewed'),
    );
  }, renewalMs);
}

function idSource(request: FastifyRequest, key: KeyInForce | undefined): (prefix: string) => string {
  let count = 0;
  return (prefix) => {
    if (!key?.claimedAt) return newId(prefix);
    count += 1;
    const seed = [request.scope.environmentId, key.key, prefix, count].join(' ');
    return derivedId(prefix, seed, Date.parse(key.claimedAt));
  };
}

function idempotencyOf({ routeOptions, body }: FastifyRequest): Idempotency {
  const { idempotency = 'record' } = routeOptions.config;
  return typeof idempotency === 'function' ? idempotency(body) : idempotency;
}

/** The header, unless the operation has none or its body's own `idempotency_key` wins. */
function keyOf(request: FastifyRequest): IdempotencyKey | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined || !isMutating(request) || idempotencyOf(request) === 'none') return null;
  const own = (request.body as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
  if (typeof own === 'string' && own !== '') return null;
  if (typeof header !== 'string' || header === '' || header.length > maxKeyLength) {
    throw refuse('validation_error', `Idempotency-Key must have 1 to ${maxKeyLength} characters`);
  }
  return { key: header, requestHash: hashOf(request) };
}

/** SHA-256 over method, path with query, and the body with its keys sorted. */
function hashOf(request: FastifyRequest): string {
  const body = JSON.stringify(sorted(request.body ?? null));
  return createHash('sha256').update(`${request.method} ${request.url}\n${body}`).digest('hex');
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

function noteSuccessStatus(route: RouteOptions): void {
  const response = (route.schema?.response ?? {}) as Record<string, unknown>;
  const status = Object.keys(response).find((key) => /^2\d\d$/.test(key));
  if (status) route.config = { ...route.config, successStatus: Number(status) };
}

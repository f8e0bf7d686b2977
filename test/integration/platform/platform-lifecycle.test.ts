import { serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import Fastify from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorResponses, handleError } from '../../../api/errors.ts';
import { registerAuthentication } from '../../../api/plugins/authentication.ts';
import { registerJsonBody } from '../../../api/plugins/json-body.ts';
import { registerRateLimit } from '../../../api/plugins/rate-limit.ts';
import { registerTransactions } from '../../../api/plugins/transaction.ts';
import { refuse } from '../../../billing/refusal.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

// The answers that are kept here name subscriptions nobody made.
const { app, database, scope, apiKey } = await testApi({}, { breaks: ['I16'] });

/** What the lifecycle route under test does; each test sets it. */
let work: (id: string) => Promise<unknown> = async (id) => ({ id });
const lifecycle = Fastify();
lifecycle.decorate('dependencies', app.dependencies);
lifecycle.setValidatorCompiler(validatorCompiler);
lifecycle.setSerializerCompiler(serializerCompiler);
lifecycle.setErrorHandler(handleError);
registerJsonBody(lifecycle);
registerRateLimit(lifecycle, () => false);
registerAuthentication(lifecycle);
registerTransactions(lifecycle);
lifecycle.post('/open', {
  schema: { response: { 201: z.looseObject({}), ...errorResponses } },
  config: { permission: 'subscription:write', idempotency: 'lifecycle' },
  handler: async (request) => work(request.newId('subs')),
});
await lifecycle.ready();
afterAll(() => lifecycle.close());

const open = async (key: string | null, body: object = {}) => {
  const headers = { 'x-api-key': apiKey, ...(key === null ? {} : { 'idempotency-key': key }) };
  const answer = await lifecycle.inject({ method: 'POST', url: '/open', headers, payload: body });
  return { status: answer.statusCode, body: answer.json() };
};

describe('a lifecycle route', () => {
  it('answers a repeated key from what is kept, without doing it again', async () => {
    let calls = 0;
    work = async (id) => {
      calls += 1;
      return { id, calls };
    };
    const first = await open('l-1', { a: 1 });
    expect(first.status).toBe(201);
    expect(await open('l-1', { a: 1 })).toEqual(first);
    expect((await open('l-1', { a: 2 })).status).toBe(409);
    expect(calls).toBe(1);
  });

  it('makes another id for every request without a key', async () => {
    work = async (id) => ({ id });
    expect((await open(null)).body.id).not.toBe((await open(null)).body.id);
  });

  it('meets the same id after a refusal, at once', async () => {
    const ids: string[] = [];
    work = async (id) => {
      ids.push(id);
      throw refuse('validation_error', 'no');
    };
    expect((await open('l-2')).status).toBe(400);
    work = async (id) => {
      ids.push(id);
      return {};
    };
    expect((await open('l-2')).status).toBe(201);
    expect(ids[0]).toBe(ids[1]);
  });

  it('answers the second of two concurrent requests like the first', async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const ids: string[] = [];
    work = async (id) => {
      ids.push(id);
      start();
      await held;
      return { id };
    };
    const first = open('l-5');
    await started;
    const second = open('l-5');
    release();
    expect(await second).toEqual(await first);
    expect(ids).toHaveLength(1);
  });

  it('refuses the second when the first is still under way after five seconds', async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    work = async (id) => {
      start();
      await held;
      return { id };
    };
    const first = open('l-3');
    await started;
    const second = await open('l-3');
    expect([second.status, second.body.code]).toEqual([409, 'already_exists']);
    release();
    expect((await first).status).toBe(201);
  });

  it('goes on with the same id when the process died in between and its claim lapsed', async () => {
    const ids: string[] = [];
    work = async (id) => {
      ids.push(id);
      return { id };
    };
    const first = await open('l-4');
    // What a crash leaves: the claim without an answer.
    const lapse = (until: string) =>
      inTransaction(database, scope, (tx) =>
        tx.rows(`update idempotent_request set status_code = 0, body = $2 where key = $1`, ['l-4', until]),
      );
    await lapse('2999-01-01T00:00:00.000Z');
    expect((await open('l-4')).status).toBe(409);
    await lapse(new Date(Date.now() - 1).toISOString());
    expect(await open('l-4')).toEqual(first);
    expect(ids).toEqual([first.body.id, first.body.id]);
  });

  it('gives a refusal of a workflow to the caller unchanged, however it is wrapped', async () => {
    const refusal = refuse('version_conflict', 'version is 3, not 2', { version: 3 });
    const activity = new Error('activity failed', { cause: ApplicationFailure.fromError(refusal) });
    work = async () => {
      throw new WorkflowFailedError(
        'failed',
        new Error('wrapped', { cause: refusal }),
        'NON_RETRYABLE_FAILURE' as never,
      );
    };
    const answer = await open(null);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'version_conflict',
      message: 'version is 3, not 2',
      details: { context: { version: 3 } },
    });
    expect(activity.cause).toBeInstanceOf(ApplicationFailure);
  });

  it('says 503 when Temporal is not there, and 500 without a word of the cause for a bug', async () => {
    work = async () => app.dependencies.temporal.workflow.getHandle('x').query('q');
    const unreachable = await open(null);
    expect([unreachable.status, unreachable.body.code]).toEqual([503, 'service_unavailable']);
    work = async () => {
      throw new Error('password is hunter2');
    };
    const bug = await open(null);
    expect(bug.body).toMatchObject({ code: 'internal_error', message: 'An unexpected error occurred' });
    expect(bug.body.details.context.request_id).toBeTruthy();
    work = async () => inTransaction(database, scope, (tx) => tx.rows('select 1 / 0'));
    const broken = await open(null);
    expect([broken.status, broken.body.code]).toEqual([500, 'database_error']);
    expect(JSON.stringify(broken.body)).not.toContain('division');
  });
});

it('a route without a permission stops the start', () => {
  expect(() => lifecycle.hasRoute({ method: 'POST', url: '/open' })).not.toThrow();
  const careless = Fastify();
  careless.decorate('dependencies', app.dependencies);
  registerAuthentication(careless);
  expect(() => careless.get('/open', async () => 'everything')).toThrow(/declares no permission/);
});

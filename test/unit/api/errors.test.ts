import { ServiceError } from '@temporalio/client';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { handleError } from '../../../api/errors.ts';

const app = Fastify();
app.setErrorHandler(handleError);
let failure: Error;
app.get('/', async () => {
  throw failure;
});
afterAll(() => app.close());

/** An answer of Temporal as its client throws it: the gRPC error is the cause. */
function answerOfTemporal(code: number, details: string): Error {
  const cause = Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
  return new ServiceError('Workflow Update failed', { cause });
}

test.each([
  [9, 'Unable to perform workflow execution update due to Workflow Task in failed state.'],
  [8, 'Workflow is busy.'],
])('a workflow that cannot take a message now (gRPC code %i) is a 503 to be sent again', async (code, details) => {
  failure = answerOfTemporal(code, details);
  const answer = await app.inject('/');
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.json()).toMatchObject({
    code: 'service_unavailable',
    message: 'The workflow of this object cannot take the request now; send it again.',
    details: { context: { request_id: expect.any(String) } },
  });
});

test('Temporal that does not answer is a 503, and what it finds wrong with our call a 500', async () => {
  failure = answerOfTemporal(14, 'No connection established');
  const unreachable = await app.inject('/');
  expect([unreachable.statusCode, unreachable.headers['retry-after']]).toEqual([503, '1']);
  failure = answerOfTemporal(3, 'UpdateId is not set on request.');
  expect((await app.inject('/')).json()).toMatchObject({ http_status_code: 500, code: 'internal_error' });
});

import { expect, test } from 'vitest';
import { testApi } from '../../support/api.ts';

const { call } = await testApi();

test.each([
  ['GET', '/v1/tasks/scheduled', undefined, 'listScheduledTasks'],
  ['POST', '/v1/tasks/scheduled', { entity_type: 'EVENTS', interval: 'daily' }, 'createScheduledTask'],
  ['GET', '/v1/workflows/subscription%2Fsubs_1/run?expand=all', undefined, 'getWorkflowDetails'],
] as const)('%s %s is 501 and says what is not there', async (method, path, body, operation) => {
  const answer = await call(method, path, body ? { body } : {});
  expect(answer).toMatchObject({ status: 501, body: { code: 'not_implemented', success: false } });
  expect(answer.body.message).toContain(operation);
});

test('a path that nobody knows is still 404, and one that is known needs a key', async () => {
  expect((await call('GET', '/v1/tasks/none/of/it')).status).toBe(404);
  expect((await call('GET', '/v1/tasks/scheduled', { apiKey: 'sk_none' })).status).toBe(401);
});

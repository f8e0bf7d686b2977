import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/common';
import type { Scope } from '../../db/scope.ts';
import { createTestClock, deleteTestClock, listTestClocks, readTestClock } from '../../services/platform/test-clock.ts';
import { advance, testClockStartOptions, testClockWorkflowType } from '../../workflows/platform/test-clock.messages.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listQuery, toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  advanceTestClockBody,
  createTestClockBody,
  testClock,
  testClockList,
  testClockQuery,
  viewTestClock,
} from './test-clock.schema.ts';

const tags = ['Test clocks'];
const lookEveryMs = 50;

/** Test clocks: time that can be travelled, through the production code. design: architecture §4 */
export async function testClockRoutes(app: Api): Promise<void> {
  app.post('/test-clocks', {
    schema: {
      operationId: 'createTestClock',
      tags,
      summary: 'Create a test clock; customers are put on it with test_clock_id when they are created',
      body: createTestClockBody,
      response: { 201: testClock, ...errorResponses },
    },
    config: { permission: 'environment:write' },
    handler: async (request) =>
      request.transaction(async (tx) =>
        viewTestClock(
          await createTestClock(tx, tx.scope, { name: request.body.name ?? '', frozenTime: request.body.frozen_time }),
        ),
      ),
  });

  app.get('/test-clocks', {
    schema: {
      operationId: 'listTestClocks',
      tags,
      summary: 'List test clocks',
      querystring: listQuery({}),
      response: { 200: testClockList, ...errorResponses },
    },
    config: { permission: 'environment:read' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        const { limit, offset } = toListQuery(request.query);
        const { items, total } = await listTestClocks(tx, tx.scope, { limit, offset });
        return viewList({ rows: items, total, limit, offset }, viewTestClock, 'next');
      }),
  });

  app.get('/test-clocks/:id', {
    schema: {
      operationId: 'getTestClock',
      tags,
      summary: 'Get a test clock; with wait, as soon as it stands or after that many seconds',
      params: idParams,
      querystring: testClockQuery,
      response: { 200: testClock, ...errorResponses },
    },
    config: { permission: 'environment:read' },
    handler: async (request) => {
      const until = Date.now() + (request.query.wait ?? 0) * 1000;
      for (;;) {
        const clock = await request.transaction((tx) => readTestClock(tx, tx.scope, request.params.id));
        if (clock.targetTime === null || Date.now() >= until) return viewTestClock(clock);
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },
  });

  app.post('/test-clocks/:id/advance', {
    schema: {
      operationId: 'advanceTestClock',
      tags,
      summary: 'Advance a test clock: everything due until then happens, in order, through the production code',
      params: idParams,
      body: advanceTestClockBody,
      response: { 200: testClock, ...errorResponses },
    },
    config: { permission: 'environment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      await request.transaction((tx) => readTestClock(tx, tx.scope, id));
      await advanceAtWorkflow(request.temporal, request.scope, id, request.body.to);
      return request.transaction(async (tx) => viewTestClock(await readTestClock(tx, tx.scope, id)));
    },
  });

  app.delete('/test-clocks/:id', {
    schema: {
      operationId: 'deleteTestClock',
      tags,
      summary: 'Delete a test clock nobody lives on',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'environment:write' },
    handler: async (request) => request.transaction((tx) => deleteTestClock(tx, tx.scope, request.params.id)),
  });
}

/** Asks the clock's workflow to advance and returns when it accepted. Throws its refusal. */
async function advanceAtWorkflow(temporal: Client, scope: Scope, testClockId: string, to: string): Promise<void> {
  const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, testClockId };
  await temporal.workflow.executeUpdateWithStart(advance, {
    args: [{ to }],
    startWorkflowOperation: new WithStartWorkflowOperation(testClockWorkflowType, {
      ...testClockStartOptions(start),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    }),
  });
}

import { refuse } from '../../billing/refusal.ts';
import { cloneTarget, findClone, latestClone } from '../../services/catalogue/clone/environment-clone.ts';
import {
  type EnvironmentCloneStart,
  environmentCloneStartOptions,
  environmentCloneWorkflowId,
  environmentCloneWorkflowType,
} from '../../workflows/platform/environment-clone.messages.ts';
import type { Api } from '../api.ts';
import { startedWorkflow } from '../catalogue/price-sync.schema.ts';
import { errorResponses } from '../errors.ts';
import { startExclusively } from '../exclusive-start.ts';
import { callerOf } from '../lifecycle.ts';
import { idParams } from '../scalars.schema.ts';
import {
  cloneEnvironmentBody,
  cloneTargetOf,
  environmentClone,
  latestCloneQuery,
  viewEnvironmentClone,
} from './environment-clone.schema.ts';

const tags = ['Environments'];

/** The catalogue of an environment is copied into another. spec: platform §9 */
export async function environmentCloneRoutes(app: Api): Promise<void> {
  app.post('/environments/:id/clone', {
    schema: {
      operationId: 'cloneEnvironment',
      tags,
      summary: 'Copy features and plans into another environment',
      description:
        'Copies the published features with their meters and groups, then the published plans with prices, entitlements and ' +
        'credit grants, into an environment of the same account or a new one. What is there already, by its lookup key, is ' +
        'skipped, so that it may be repeated. GET on this path shows how far it is and what it did.',
      params: idParams,
      body: cloneEnvironmentBody,
      response: { 202: startedWorkflow, ...errorResponses },
    },
    config: { permission: 'environment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { scope, params } = request;
      const cloneId = request.newId('env_clone');
      const target = cloneTargetOf(request.body, () => request.newId('env'));
      const { id: environmentId } = await request.transaction((tx) => cloneTarget(tx, params.id, target));
      const start: EnvironmentCloneStart = {
        tenantId: scope.tenantId,
        environmentId,
        sourceEnvironmentId: params.id,
        cloneId,
        caller: callerOf(scope),
      };
      const runId = await startExclusively(request.temporal, {
        workflowType: environmentCloneWorkflowType,
        options: environmentCloneStartOptions(start),
        memoKey: 'cloneId',
        hasEnded: (id) =>
          request.transaction(async (tx) => ((await findClone(tx, id))?.cloneStatus ?? 'running') !== 'running'),
        stillRunning: (running) => stillRunning(start, running),
      });
      return {
        message: `clone of environment ${params.id} into ${environmentId} started`,
        workflow_id: environmentCloneWorkflowId(start),
        run_id: runId,
      };
    },
  });

  app.get('/environments/:id/clone', {
    schema: {
      operationId: 'getEnvironmentClone',
      tags,
      summary: 'Get the latest clone of an environment: how far it is, what it did, what failed',
      params: idParams,
      querystring: latestCloneQuery,
      response: { 200: environmentClone, ...errorResponses },
    },
    config: { permission: 'environment:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => viewEnvironmentClone(await latestClone(tx, params.id, query.target_environment_id))),
  });
}

function stillRunning({ sourceEnvironmentId, environmentId }: EnvironmentCloneStart, runId: string): Error {
  return refuse(
    'already_exists',
    `a clone of environment ${sourceEnvironmentId} into ${environmentId} is running; wait until GET on this path shows that it has ended`,
    { source_environment_id: sourceEnvironmentId, target_environment_id: environmentId, run_id: runId },
  );
}

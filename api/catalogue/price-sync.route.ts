import { refuse } from '../../billing/refusal.ts';
import { findPlan } from '../../services/catalogue/plan/plan.ts';
import { findPriceSync, latestPriceSync } from '../../services/subscription/price-sync/price-sync.ts';
import {
  type PriceSyncStart,
  priceSyncStartOptions,
  priceSyncWorkflowId,
  priceSyncWorkflowType,
} from '../../workflows/catalogue/price-sync.messages.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { startExclusively } from '../exclusive-start.ts';
import { callerOf } from '../lifecycle.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { priceSync, startedWorkflow, viewPriceSync } from './price-sync.schema.ts';

/** Both spellings do the same. */
const starts = [
  { path: '/plans/:id/sync/subscriptions', operationId: 'syncPlanPrices' },
  { path: '/plans/:id/sync/subscriptions/v2', operationId: 'syncPlanPricesV2' },
];

/** Price sync: a plan's usage prices reach the subscriptions it has already. spec: catalogue-and-metering §3.1 */
export async function priceSyncRoutes(app: Api): Promise<void> {
  const tags = ['Plans'];

  for (const { path, operationId } of starts) {
    app.post(path, {
      schema: {
        operationId,
        tags,
        summary: 'Bring added and ended usage prices of a plan to its subscriptions',
        params: idParams,
        body: optionalBody,
        response: { 200: startedWorkflow, ...errorResponses },
      },
      config: { permission: 'plan:write', idempotency: 'lifecycle' },
      handler: async (request) => {
        const { scope, params } = request;
        const syncId = request.newId('price_sync');
        await request.transaction((tx) => findPlan(tx, params.id));
        const start = { ...ownerOf(scope), planId: params.id, syncId, caller: callerOf(scope) };
        const runId = await startExclusively(request.temporal, {
          workflowType: priceSyncWorkflowType,
          options: priceSyncStartOptions(start),
          memoKey: 'syncId',
          hasEnded: (id) =>
            request.transaction(
              async (tx) => ((await findPriceSync(tx, tx.scope, id))?.syncStatus ?? 'running') !== 'running',
            ),
          stillRunning: (running) => stillRunning(start, running),
        });
        return {
          message: `price sync of plan ${params.id} started`,
          workflow_id: priceSyncWorkflowId(params.id),
          run_id: runId,
        };
      },
    });
  }

  app.get('/plans/:id/sync/subscriptions', {
    schema: {
      operationId: 'getPlanPriceSync',
      tags,
      summary: 'Get the latest price sync of a plan: how far it is, what it did, what failed',
      params: idParams,
      response: { 200: priceSync, ...errorResponses },
    },
    config: { permission: 'plan:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findPlan(tx, params.id);
        const run = await latestPriceSync(tx, tx.scope, id);
        if (!run) throw refuse('not_found', `the prices of plan ${id} were never synced; POST on this path begins`);
        return viewPriceSync(run, priceSyncWorkflowId(id));
      }),
  });
}

function ownerOf({ tenantId, environmentId }: { tenantId: string; environmentId: string }) {
  return { tenantId, environmentId };
}

function stillRunning({ planId }: PriceSyncStart, runId: string): Error {
  return refuse(
    'already_exists',
    `a price sync of plan ${planId} is running; wait until GET on this path shows that it has ended`,
    { plan_id: planId, run_id: runId },
  );
}

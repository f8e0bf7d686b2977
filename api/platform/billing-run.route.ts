import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { parkedStep, readBillingRun } from '../../services/lifecycle/billing-run.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { updateRunning } from '../lifecycle.ts';
import { optionalBody } from '../scalars.schema.ts';
import { billingRun, billingRunQuery, retried, retryParams, viewBillingRun } from './billing-run.schema.ts';

const tags = ['Operators'];

/** What operators watch and repair. design: architecture §3 parking; docs: operations.md */
export async function billingRunRoutes(app: Api): Promise<void> {
  app.get('/billing-run', {
    schema: {
      operationId: 'getBillingRun',
      tags,
      summary: 'What is due, waits, was done and is parked around an instant',
      querystring: billingRunQuery,
      response: { 200: billingRun, ...errorResponses },
    },
    config: { permission: 'workflow:read' },
    handler: async (request) => {
      const at = request.query.at ?? realNow();
      const since = new Date(Date.parse(at) - (request.query.hours ?? 24) * 3_600_000).toISOString();
      const run = await request.transaction((tx) =>
        readBillingRun(tx, tx.scope, { asked: request.query.at ?? null, at, since, limit: request.query.limit ?? 50 }),
      );
      return viewBillingRun(at, run);
    },
  });

  app.post('/billing-run/:object_type/:object_id/retry', {
    schema: {
      operationId: 'retryParkedObject',
      tags,
      summary: 'Try the step again at which an object was parked',
      params: retryParams,
      body: optionalBody,
      response: { 200: retried, ...errorResponses },
    },
    config: { permission: 'workflow:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { object_type: kind, object_id: id } = request.params;
      const step = await request.transaction((tx) => parkedStep(tx, tx.scope, kind, id));
      const answer = await updateRunning(request.temporal, { kind, id }, (workflow) => workflow.executeUpdate(retry));
      if (answer === null)
        throw refuse(
          'service_unavailable',
          `the workflow of ${kind} ${id} is not running: run "npm run reconcile", then retry`,
        );
      return { object_type: kind, object_id: id, step };
    },
  });
}

import { usageReader } from '../../metering/usage-reader.ts';
import { simulateAsPreviewed } from '../../services/subscription/simulation/plan-simulate-bound.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { planSimulation, simulatePlanBody, simulationRequestOf, viewPlanSimulation } from './plan-simulation.schema.ts';

/** What customers would have paid under a plan. Own operation; spec: catalogue-and-metering §4.3, §8.4 */
export async function planSimulationRoutes(app: Api): Promise<void> {
  const readUsage = usageReader(app.dependencies.metering);

  app.post('/plans/:id/simulate', {
    schema: {
      operationId: 'simulatePlan',
      tags: ['Plans'],
      summary: 'Compare what customers paid with what they would have paid under this plan; nothing is stored',
      params: idParams,
      body: simulatePlanBody,
      response: { 200: planSimulation, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async ({ params, body, transaction }) => {
      const request = simulationRequestOf(params.id, body);
      const repeated = body.preview_digest ?? null;
      return transaction(async (tx) =>
        viewPlanSimulation(request, await simulateAsPreviewed(tx, request, repeated, readUsage)),
      );
    },
  });
}

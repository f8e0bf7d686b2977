import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import type { Api } from '../api.ts';

/**
 * Operations of the published interface that this release does not have, for callers with a key; those without one (signing in
 * and the portal) are not found. test/unit/api/unbuilt-operations.test.ts compares them with the
 * specification where it is at hand, and with what is built.
 */
export const unbuiltOperations: readonly [
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  operation: string,
][] = [
  ['POST', '/ai/pricing/parse-gemini', 'parseGeminiPricing'],
  ['POST', '/dashboard/revenue-dashboard', 'getRevenueDashboard'],
  ['POST', '/dashboard/revenues', 'getRevenues'],
  ['POST', '/integrations/sync', 'sync'],
  ['POST', '/marketplace/agreements', 'createMarketplaceAgreement'],
  ['POST', '/oauth/complete', 'completeOAuth'],
  ['POST', '/oauth/init', 'initiateOAuth'],
  ['POST', '/portal/onboarding/events', 'generateEvents'],
  ['POST', '/portal/onboarding/setup', 'setupDemo'],
  ['GET', '/tasks/scheduled', 'listScheduledTasks'],
  ['POST', '/tasks/scheduled', 'createScheduledTask'],
  ['DELETE', '/tasks/scheduled/{id}', 'deleteScheduledTask'],
  ['GET', '/tasks/scheduled/{id}', 'getScheduledTask'],
  ['PUT', '/tasks/scheduled/{id}', 'updateScheduledTask'],
  ['POST', '/tasks/scheduled/{id}/run', 'triggerScheduledTaskRun'],
  ['GET', '/tenant/billing', 'getTenantBillingUsage'],
  ['GET', '/tenants/billing', 'getTenantBillingUsage'],
  ['POST', '/usage-records/search', 'queryUsageRecords'],
  ['POST', '/users/chat/verify', 'createSupportChatToken'],
  ['PUT', '/users/{id}/roles', 'updateUserRoles'],
  ['POST', '/workflows/batch', 'getWorkflowsBatch'],
  ['POST', '/workflows/search', 'queryWorkflow'],
  ['GET', '/workflows/{workflow_id}/{run_id}', 'getWorkflowDetails'],
  ['GET', '/workflows/{workflow_id}/{run_id}/summary', 'getWorkflowSummary'],
  ['GET', '/workflows/{workflow_id}/{run_id}/timeline', 'getWorkflowTimeline'],
];

const anything = z.unknown();

/** Answers 501 by name where the interface has an operation and this release has not, so that nobody looks for a typing mistake. */
export async function unbuiltRoutes(app: Api): Promise<void> {
  for (const [method, path, operation] of unbuiltOperations) {
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: {
        hide: true,
        operationId: operation,
        querystring: z.looseObject({}),
        ...(method !== 'GET' && { body: anything }),
      },
      config: { permission: 'authenticated', idempotency: 'none' },
      handler: async () => {
        throw refuse('not_implemented', `${operation} (${method} ${path}) is not part of this release`);
      },
    });
  }
}

import { readTimeline } from '../../services/subscription/read/subscription-timeline.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { timeline, viewTimeline } from './subscription-timeline.schema.ts';

/** The life of a subscription as people tell it. This operation is ours. */
export async function subscriptionTimelineRoutes(app: Api): Promise<void> {
  app.get('/subscriptions/:id/timeline', {
    schema: {
      operationId: 'getSubscriptionTimeline',
      tags: ['Subscriptions'],
      summary: 'What happened to a subscription and what is to come, in one list',
      params: idParams,
      response: { 200: timeline, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewTimeline(await readTimeline(tx, params.id))),
  });
}

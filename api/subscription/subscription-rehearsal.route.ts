import { usageReader } from '../../metering/usage-reader.ts';
import { externalCustomerOf } from '../../services/across/subscription-rehearse.ts';
import { rehearseAsPreviewed } from '../../services/across/subscription-rehearse-bound.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { rehearse } from '../rehearsal.ts';
import { idParams } from '../scalars.schema.ts';
import {
  assumedEvents,
  rehearseSubscriptionBody,
  subscriptionRehearsal,
  viewRehearsal,
} from './subscription-rehearsal.schema.ts';

/** What the months to come would bring to a subscription. Own operation */
export async function subscriptionRehearsalRoutes(app: Api): Promise<void> {
  const { metering } = app.dependencies;
  const readUsage = usageReader(metering);

  app.post('/subscriptions/:id/rehearse', {
    schema: {
      operationId: 'rehearseSubscription',
      tags: ['Subscriptions'],
      summary: 'Let time come to a subscription and see its invoices; nothing is changed',
      params: idParams,
      body: rehearseSubscriptionBody,
      response: { 200: subscriptionRehearsal, ...errorResponses },
    },
    config: { permission: 'subscription:read', idempotency: 'none' },
    handler: async (request) => {
      const { id } = request.params;
      const { until, usage, preview_digest: repeated = null } = request.body;
      return rehearse(request, async (tx) => {
        const events = assumedEvents(usage, await externalCustomerOf(tx, id));
        if (events.length > 0) await metering.appendWithin(tx, events);
        const asked = { subscriptionId: id, until, assumed: usage ?? [] };
        return viewRehearsal(until, await rehearseAsPreviewed(tx, asked, repeated, readUsage));
      });
    },
  });
}

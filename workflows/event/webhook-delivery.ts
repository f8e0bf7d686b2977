import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { WebhookDeliveryActivities } from '../../activities/event/webhook/delivery.ts';
import { heartbeatTimeout } from '../activity-options.ts';
import { type WebhookDeliveryStart, webhookTaskQueue } from './webhook-delivery.messages.ts';

const step = proxyActivities<WebhookDeliveryActivities>({
  taskQueue: webhookTaskQueue,
  startToCloseTimeout: '30m',
  heartbeatTimeout,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

/**
 * Serves one part of all endpoints for ever: a step sends for some minutes and is followed by the next. Nothing of an event is in this
 * history; how far each endpoint has come is a row. design: people-and-events §A 5
 */
export async function webhookDelivery(start: WebhookDeliveryStart): Promise<void> {
  const { endpoints } = await step.deliverWebhooks(start);
  setCurrentDetails(`Webhooks, part ${start.shard + 1} of ${start.shards}\n\n${endpoints} endpoints in the last step`);
  await continueAsNew<typeof webhookDelivery>(start);
}

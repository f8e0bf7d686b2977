import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WebhookStandingActivities } from '../../activities/event/webhook/standing.ts';
import { createClock } from '../clock.ts';
import { described } from '../handler-descriptions.ts';
import { standingChanged, type WebhookEndpointStart } from './webhook-endpoint.messages.ts';

const step = proxyActivities<WebhookStandingActivities>({
  startToCloseTimeout: '1m',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '20s' },
});

/** A run rolls over past this, so that replaying it stays cheap. */
const longestHistoryEvents = 40;

/**
 * Says in its details why an endpoint gets nothing, or not everything, and when it will. Begun by a change of the endpoint and by an
 * attempt that failed; ends when everything is received. It sends nothing itself. design: people-and-events §A 5
 */
export async function webhookEndpoint(start: WebhookEndpointStart): Promise<void> {
  const clock = createClock({ testClockId: null, clockTime: null }, () => 0);
  let hasChanged = false;
  setHandler(
    standingChanged,
    () => {
      hasChanged = true;
    },
    described(standingChanged),
  );
  for (;;) {
    hasChanged = false;
    const { sentences, lookAt, isOver } = await step.lookAtEndpoint(start);
    setCurrentDetails([`Webhook endpoint ${start.endpointId}`, ...sentences].join('\n\n'));
    if (workflowInfo().historyLength > longestHistoryEvents) await continueAsNew<typeof webhookEndpoint>(start);
    if (hasChanged) continue;
    if (isOver) return;
    await clock.waitUntil(lookAt, () => hasChanged, 'the next attempt');
  }
}

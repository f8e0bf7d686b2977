import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ProviderInboxActivities } from '../../activities/integration/provider-inbox.ts';
import { heartbeatTimeout } from '../activity-options.ts';
import { createClock } from '../clock.ts';
import { described } from '../handler-descriptions.ts';
import { notificationStored, type ProviderInboxStart } from './provider-inbox.messages.ts';

const step = proxyActivities<ProviderInboxActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '20s' },
});

/** A run rolls over past this, so that replaying it stays cheap. */
const longestHistoryEvents = 40;

/**
 * Passes the notifications of one connection on to the workflows of what they are about, each of which asks the provider; one whose object
 * is not there yet is looked for again. Ends when none is open. The next notification begins it again.
 * design: money-in-checkout §A13
 */
export async function providerInbox(start: ProviderInboxStart): Promise<void> {
  const clock = createClock({ testClockId: null, clockTime: null }, () => 0);
  let hasStored = false;
  setHandler(
    notificationStored,
    () => {
      hasStored = true;
    },
    described(notificationStored),
  );
  for (;;) {
    hasStored = false;
    const { passedOn, others, isMoreDue, nextAt } = await step.passOnNotifications(start);
    setCurrentDetails(
      `Notifications through connection ${start.connectionId}\n\n${passedOn} passed on and ${others} others in the last look · next look: ${nextAt ?? 'with the next notification'}`,
    );
    if (workflowInfo().historyLength > longestHistoryEvents) await continueAsNew<typeof providerInbox>(start);
    if (isMoreDue || hasStored) continue;
    if (nextAt === null) return;
    await clock.waitUntil(nextAt, () => hasStored, 'a notification whose object was not there');
  }
}

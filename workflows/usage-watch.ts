import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { UsageWatchActivities } from '../activities/usage-watch.ts';
import { createClock } from './clock.ts';
import { described } from './handler-descriptions.ts';
import { type UsageWatchStart, usageArrived } from './usage-watch.messages.ts';

const step = proxyActivities<UsageWatchActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '20s' },
});

/** Customers whose usage keeps arriving are looked at this often. */
const pause = '1s';

/** A run rolls over past this, so that replaying it stays cheap. */
const longestHistoryEvents = 16;

/**
 * Looks at the customers that were marked because usage arrived, and waits for the minute in which usage that is dated ahead
 * begins to count; ends when none is marked. The next event begins it again. design: architecture §3 usage-watch
 */
export async function usageWatch(start: UsageWatchStart): Promise<void> {
  const clock = createClock({ testClockId: null, clockTime: null }, () => 0);
  let hasArrived = false;
  setHandler(
    usageArrived,
    () => {
      hasArrived = true;
    },
    described(usageArrived),
  );
  for (;;) {
    hasArrived = false;
    const { examined, isMoreDue, nextAt } = await step.evaluateUsage(start);
    setCurrentDetails(
      `Usage watch of environment ${start.environmentId}\n\n${examined} marked customers looked at · next: ${nextAt ?? 'none'}`,
    );
    if (workflowInfo().historyLength > longestHistoryEvents) await continueAsNew<typeof usageWatch>(start);
    if (isMoreDue) continue;
    await sleep(pause);
    if (hasArrived) continue;
    if (nextAt === null) return;
    await clock.waitUntil(nextAt, () => hasArrived, 'usage dated ahead');
  }
}

import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { UsageFeedActivities } from '../../activities/usage/usage-feed.ts';
import { heartbeatTimeout } from '../activity-options.ts';
import type { UsageFeedStart } from './usage-feed.messages.ts';

const step = proxyActivities<UsageFeedActivities>({
  startToCloseTimeout: '15m',
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Feeds the second usage engine for as long as there is one: a step feeds for some minutes and is followed by the next. Where it
 * has come to is a row, so a killed step's successor goes on there. design: usage.md The engine contract
 */
export async function usageFeed(start: UsageFeedStart): Promise<void> {
  const { isOff, rounds, rows } = await step.feedUsage(start);
  if (isOff) return;
  setCurrentDetails(`Feed of the second usage engine\n\n${rows} rows in ${rounds} rounds`);
  await continueAsNew<typeof usageFeed>(start);
}

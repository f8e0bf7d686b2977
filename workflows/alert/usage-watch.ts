import {
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { UsageWatchActivities } from '../../activities/alert/usage-watch.ts';
import { databaseStep, heartbeatTimeout } from '../activity-options.ts';
import { createClock } from '../clock.ts';
import { reasonOf } from '../failure.ts';
import { described } from '../handler-descriptions.ts';
import { type UsageWatchStart, usageArrived } from './usage-watch.messages.ts';

const local = proxyLocalActivities<UsageWatchActivities>(databaseStep);
const step = proxyActivities<UsageWatchActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '20s' },
});

/** Customers whose usage keeps arriving are looked at this often at most. */
const pause = '1s';
/** An evaluator that failed for good is asked again after this. */
const pauseAfterFailure = '1m';

/** A run rolls over past this, so that replaying it stays cheap. */
const longestHistoryEvents = 40;

/**
 * Has evaluators look at the customers that were marked because usage arrived or a balance moved, each in an activity of its own, so
 * that a slow one holds nobody up. Waits for the next mark that will be due; ends when there is none, and the next mark begins it
 * again. design: architecture §3 usage-watch, money-in-wallets finding 57
 */
export async function usageWatch(start: UsageWatchStart): Promise<void> {
  const clock = createClock({ testClockId: null, clockTime: null }, () => 0);
  const running = new Set<string>();
  const failures = new Map<string, string>();
  let hasArrived = false;
  let hasEnded = false;
  setHandler(
    usageArrived,
    () => {
      hasArrived = true;
    },
    described(usageArrived),
  );

  async function evaluate(evaluator: string): Promise<void> {
    running.add(evaluator);
    try {
      await step.evaluateUsage({ ...start, evaluator });
      failures.delete(evaluator);
    } catch (error) {
      failures.set(evaluator, reasonOf(error));
      await sleep(pauseAfterFailure);
    }
    running.delete(evaluator);
    hasEnded = true;
  }

  for (;;) {
    hasArrived = false;
    hasEnded = false;
    const { due, nextAt } = await local.findDueUsage(start);
    for (const evaluator of due) if (!running.has(evaluator)) void evaluate(evaluator);
    setCurrentDetails(detailsOf(start, { running, failures, nextAt }));
    await sleep(pause);
    if (running.size > 0) await condition(() => hasArrived || hasEnded, pause);
    else if (workflowInfo().historyLength > longestHistoryEvents) await continueAsNew<typeof usageWatch>(start);
    else if (!hasArrived && !hasEnded) {
      if (nextAt === null) return;
      await clock.waitUntil(nextAt, () => hasArrived, 'the next mark');
    }
  }
}

function detailsOf(
  { environmentId }: UsageWatchStart,
  {
    running,
    failures,
    nextAt,
  }: { running: ReadonlySet<string>; failures: ReadonlyMap<string, string>; nextAt: string | null },
): string {
  const failed = [...failures].map(([evaluator, reason]) => `\n\n**${evaluator} failed**: ${reason}`).join('');
  const working = running.size === 0 ? 'nothing' : [...running].join(', ');
  return `Usage watch of environment ${environmentId}\n\nlooking: ${working} · next: ${nextAt ?? 'none'}${failed}`;
}

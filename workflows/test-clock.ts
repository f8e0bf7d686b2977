import {
  allHandlersFinished,
  condition,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { TestClockActivities } from '../activities/test-clock.ts';
import { databaseStep } from './activity-options.ts';
import { advance, progress, type TestClockStart } from './test-clock.messages.ts';

const local = proxyLocalActivities<TestClockActivities>(databaseStep);
const { advanceClock } = proxyActivities<TestClockActivities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const idleTimeoutMs = 5_000;

/**
 * Moves a test clock to where it was asked to go: every object of its customers does what is due, instant after instant,
 * through the production code. The row holds target and progress, so a killed worker goes on where it was.
 * design: architecture §4
 */
export async function testClock(start: TestClockStart): Promise<void> {
  let target: string | null = null;
  let advancing = false;

  setHandler(advance, async ({ to }) => {
    const accepted = await local.beginAdvance({ ...start, to });
    target = accepted.targetTime;
    return accepted;
  });
  setHandler(progress, () => ({ targetTime: target, advancing }));

  target = (await local.resumeAdvance(start)).targetTime;
  while (target !== null || (await condition(() => target !== null, idleTimeoutMs))) {
    advancing = true;
    setCurrentDetails(`advancing to ${target}`);
    await advanceClock(start);
    target = null;
    advancing = false;
    setCurrentDetails('waits for the next advance');
  }
  await condition(allHandlersFinished);
}

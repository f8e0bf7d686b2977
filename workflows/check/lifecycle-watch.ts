import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { LifecycleWatchActivities } from '../../activities/check/lifecycle-watch.ts';
import { heartbeatTimeout } from '../activity-options.ts';
import type { LifecycleWatchResult } from './lifecycle-watch.messages.ts';

const step = proxyActivities<LifecycleWatchActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' },
});

/**
 * Starts lifecycles again that were terminated, or ended in another way that their rows do not know. A schedule runs it; the look
 * before said how far it came. design: architecture §3
 */
export async function lifecycleWatch(): Promise<LifecycleWatchResult> {
  const before = workflowInfo().lastResult as LifecycleWatchResult | undefined;
  return step.restartClosed({ since: before?.until ?? null });
}

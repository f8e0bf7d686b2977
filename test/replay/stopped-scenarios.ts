import { advanceClock } from '../../bench/account.ts';
import {
  lifecycleWatchScheduleId,
  lifecycleWatchWorkflowType,
} from '../../workflows/check/lifecycle-watch.messages.ts';
import { lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { inRealTime, invoiceWorkflowOf, onClock, type Stage, start, until, workflowOf } from './stage.ts';

/** Temporal is asked to cancel lifecycles, on a clock and on real time; they go on, and end as the API says. */
async function askedToCancel(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'declines' });
  await advanceClock(api, clockId, '2026-01-15T01:00:00Z');
  const invoice = await until(() => invoiceWorkflowOf(stage, subscriptionId));
  for (const workflow of [workflowOf(stage, subscriptionId), invoice]) await workflow.cancel();
  await advanceClock(api, clockId, '2026-02-20T00:00:00Z');
  const real = await inRealTime(stage, { card: 'succeeds' });
  await workflowOf(stage, real.subscriptionId).cancel();
  await api('POST', `/subscriptions/${real.subscriptionId}/cancel`, { cancellation_type: 'immediate' });
}

/** A lifecycle is terminated, found and started again. */
async function closedFromOutside(stage: Stage): Promise<void> {
  const { workflow } = stage.platform.temporal;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
  await workflowOf(stage, subscriptionId).terminate('recorded: somebody pressed it');
  await until(async () => {
    const look = { workflowId: lifecycleWatchScheduleId, taskQueue: lifecycleTaskQueue, args: [] };
    const { restarted } = (await workflow.execute(lifecycleWatchWorkflowType, look)) as { restarted: number };
    return restarted || undefined;
  });
  await advanceClock(stage.platform.api, clockId, start.replace('-01-', '-03-'));
}

export const stoppedScenarios = { 'asked-to-cancel': askedToCancel, 'closed-from-outside': closedFromOutside };

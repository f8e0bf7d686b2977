import { type Client, ScheduleOverlapPolicy } from '@temporalio/client';
import { expect } from 'vitest';
import { poll } from '../../dev/processes.ts';
import { type LifecycleWatchResult, lifecycleWatchScheduleId } from '../../workflows/check/lifecycle-watch.messages.ts';

/** Closes a workflow from outside, and returns when Temporal's visibility tells so. */
export async function closedFromOutside(client: Client, workflowId: string): Promise<{ runId: string }> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  await client.workflow.getHandle(workflowId, runId).terminate('somebody pressed it');
  const query = `WorkflowId = "${workflowId}" AND RunId = "${runId}" AND ExecutionStatus = "Terminated"`;
  const seen = await poll(async () => (await client.workflow.count(query)).count || undefined, 20_000, 50);
  expect(seen, `visibility knows that ${workflowId} was closed`).toBe(1);
  return { runId };
}

/** Has the schedule look now, beside its own looks, and returns what the look found. */
export async function lookNow(client: Client): Promise<LifecycleWatchResult> {
  const schedule = client.schedule.getHandle(lifecycleWatchScheduleId);
  const latest = async () => (await schedule.describe()).info.recentActions.at(-1)?.action.workflow;
  const before = await latest();
  const startedSince = async () => {
    const found = await latest();
    return found?.firstExecutionRunId === before?.firstExecutionRunId ? undefined : found;
  };
  // Temporal names a run after its second, so a look that is asked for in the second of the schedule's own one starts nothing.
  const started = await poll(
    async () => {
      await schedule.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
      return poll(startedSince, 2_000, 50);
    },
    20_000,
    50,
  );
  if (!started) throw new Error('the schedule of the lifecycle watch starts nothing');
  const { workflowId, firstExecutionRunId } = started;
  return client.workflow.getHandle(workflowId, firstExecutionRunId).result() as Promise<LifecycleWatchResult>;
}

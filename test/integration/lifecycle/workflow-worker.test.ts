import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, expect, test } from 'vitest';
import { bundleWorkflows } from '../../../activities/workflow-bundle.ts';
import { entryOf } from '../../../activities/workflow-entry.ts';
import { WorkflowThread } from '../../../activities/workflow-worker/workflow-thread.ts';
import { createWorkflowWorker } from '../../../activities/workflow-worker/workflow-worker.ts';
import { poll } from '../../../dev/processes.ts';
import { testTemporal } from '../../support/temporal.ts';

const { client, address, namespace } = await testTemporal();
const workflowBundle = await bundleWorkflows(
  entryOf(fileURLToPath(new URL('../../support/faulty-workflows.ts', import.meta.url))),
);
const connection = await NativeConnection.connect({ address });
afterAll(() => connection.close());

/** A worker of a queue that runs until it is stopped. */
async function startWorker(taskQueue: string, workflowThread: WorkflowThread): Promise<() => Promise<void>> {
  const worker = await createWorkflowWorker({ connection, namespace, taskQueue, workflowBundle, workflowThread });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
}

const start = (workflowType: string, workflowId: string, taskQueue: string) =>
  client.workflow.start(workflowType, { workflowId, taskQueue });

/** What the first failed task of a workflow says, as Temporal's UI shows it. */
async function failureOfTask(handle: WorkflowHandle): Promise<string | undefined> {
  const { events } = await handle.fetchHistory();
  return events?.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message).find(Boolean) ?? undefined;
}

test('a workflow that does not come back fails its task, and those that wait behind it go on', async () => {
  const stop = await startWorker('stuck', new WorkflowThread([]));
  const before = await start('comesBack', 'before', 'stuck');
  expect(await before.result()).toBe('came back');

  const stuck = await start('neverComesBack', 'stuck', 'stuck');
  // Temporal has given the task to the worker, whose thread it holds from there on.
  await poll(async () => ((await stuck.fetchHistory()).events ?? []).length > 2 || undefined, 10_000);
  const behind = await start('comesBack', 'behind', 'stuck');
  expect(await behind.result()).toBe('came back');

  expect(await poll(() => failureOfTask(stuck), 20_000)).toBe(
    'the workflow neverComesBack stuck did not come back and was interrupted',
  );
  await stuck.terminate();
  const after = await start('comesBack', 'after', 'stuck');
  expect(await after.result()).toBe('came back');
  await stop();
});

test('workers that share a thread of workflows stop one after the other', async () => {
  const thread = new WorkflowThread([]);
  const [stopFirst, stopSecond] = [await startWorker('first', thread), await startWorker('second', thread)];
  for (const queue of ['first', 'second']) {
    const both = await start('comesBack', `both-${queue}`, queue);
    expect(await both.result()).toBe('came back');
  }
  await stopFirst();
  const alone = await start('comesBack', 'alone', 'second');
  expect(await alone.result()).toBe('came back');
  await stopSecond();
});

test('no call stacks are kept, and the error of a failed task has its own', async () => {
  const stop = await startWorker('stacks', new WorkflowThread([]));
  const done = await start('comesBack', 'done', 'stacks');
  await done.result();
  await expect(done.query('__stack_trace')).rejects.toThrow('stack traces are not enabled');
  const faulty = await start('breaks', 'faulty', 'stacks');
  expect(await poll(() => failureOfTask(faulty), 20_000)).toBe('broken');
  const { events } = await faulty.fetchHistory();
  const failures = events?.flatMap((event) => event.workflowTaskFailedEventAttributes?.failure ?? []);
  expect(failures?.[0]?.stackTrace).toMatch(/at breaks \(.*faulty-workflows\.ts:\d+:\d+\)/);
  await faulty.terminate();
  await stop();
});

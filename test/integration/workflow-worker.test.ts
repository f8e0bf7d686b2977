import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleWorkflows } from '../../activities/workflow-bundle.ts';
import { WorkflowWorker } from '../../activities/workflow-worker.ts';
import { poll } from '../../dev/processes.ts';
import { testTemporal } from '../support/temporal.ts';

const { client, address, namespace } = await testTemporal();
const taskQueue = 'stuck';
const bundling = bundleWorkflows(fileURLToPath(new URL('../support/stuck-workflows.ts', import.meta.url)));

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const connection = await NativeConnection.connect({ address });
const worker = await WorkflowWorker.create({ connection, namespace, taskQueue, workflowBundle: await bundling });
let running: Promise<void>;
beforeAll(() => {
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
});

const start = (workflowType: string, workflowId: string) =>
  client.workflow.start(workflowType, { workflowId, taskQueue });

/** What the first failed task of a workflow says, as Temporal's UI shows it. */
async function failureOfTask(handle: WorkflowHandle): Promise<string | undefined> {
  const { events } = await handle.fetchHistory();
  return events?.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message).find(Boolean) ?? undefined;
}

test('a workflow that does not come back fails its task, and those that wait behind it go on', async () => {
  const before = await start('comesBack', 'before');
  expect(await before.result()).toBe('came back');

  const stuck = await start('neverComesBack', 'stuck');
  // Temporal has given the task to the worker, whose thread it holds from there on.
  await poll(async () => ((await stuck.fetchHistory()).events ?? []).length > 2 || undefined, 10_000);
  const behind = await start('comesBack', 'behind');
  expect(await behind.result()).toBe('came back');

  expect(await poll(() => failureOfTask(stuck), 20_000)).toBe(
    'the workflow neverComesBack stuck did not come back and was interrupted',
  );
  await stuck.terminate();
  const after = await start('comesBack', 'after');
  expect(await after.result()).toBe('came back');
});

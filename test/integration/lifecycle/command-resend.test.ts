import { fileURLToPath } from 'node:url';
import { WorkflowNotFoundError } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { bundleWorkflows } from '../../../activities/workflow-bundle.ts';
import { entryOf } from '../../../activities/workflow-entry.ts';
import { WorkflowThread } from '../../../activities/workflow-worker/workflow-thread.ts';
import { createWorkflowWorker } from '../../../activities/workflow-worker/workflow-worker.ts';
import { lifecycleTaskQueue } from '../../../workflows/start.messages.ts';
import { autoTopUpWorkflowId, retryNow } from '../../../workflows/wallet/auto-top-up.messages.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { fillingWallets } from '../wallet/auto-top-up.fixture.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { api, gateway } = await testApp(base, temporal);
const { filled } = fillingWallets({ api });
const bundle = await bundleWorkflows(
  entryOf(fileURLToPath(new URL('../../support/failing-workflows.ts', import.meta.url))),
);

/** A worker that fails the tasks of every wallet that fills itself. */
async function startFailing(): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address: temporal.address });
  const worker = await createWorkflowWorker({
    connection,
    namespace: temporal.namespace,
    taskQueue: lifecycleTaskQueue,
    workflowBundle: bundle,
    workflowThread: new WorkflowThread([]),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
}

/** Reason for which Temporal takes no command of a wallet's workflow now; empty where it took one. */
async function refusalOf(walletId: string): Promise<string> {
  const workflow = temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId));
  const command = { caller: { actor: 'test', requestId: 'test' }, at: '2026-03-01T00:00:00.000Z' };
  try {
    await temporal.client.withDeadline(Date.now() + 2_000, () => workflow.executeUpdate(retryNow, { args: [command] }));
    return '';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return '';
    return String((error as Error).cause ?? error);
  }
}

test('a command that meets a workflow whose task is done again waits, and is answered when the task succeeds', async () => {
  const stop = await startFailing();
  const { walletId } = await filled({}, 'succeeds');
  await expect.poll(() => refusalOf(walletId), { timeout: 60_000, interval: 200 }).toContain('failed state');
  const asked = api<Wire>('POST', `/wallets/${walletId}/auto-topup/retry`);
  await stop();
  await startWorkers(base, temporal, { gateway });
  const answer = await asked;
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: 200,
    body: { auto_topup_standing: { state: 'blocked', reason: 'no_use' } },
  });
}, 120_000);

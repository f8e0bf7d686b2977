import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { lifecycleStartOptions } from '../workflows/start.messages.ts';
import { makePlan } from './account.ts';
import type { CachingWorker } from './caching-worker.ts';
import { compare } from './measure.ts';
import { type BenchPlatform, withBenchPlatform } from './platform.ts';
import { type Subscribed, subscribeDirectly } from './subscribed.ts';

const counted = Number(process.env.BENCH_SUBSCRIPTIONS || 250);
/** The first ones load code and fill pools; they are there before the measurement begins. */
const before = 50;
const atOnce = 16;
const hourMs = 3_600_000;

/**
 * Memory (RSS, KiB) that one more cached subscription workflow takes in a worker process of its own, against a workflow with
 * as many handlers and one timer that does nothing.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const { planId } = await makePlan(platform.api, { fee: '30', perCall: '0.10', eventName: 'call' });
    const start = new Date(Date.now() - hourMs).toISOString();
    const subscribed = await subscribeDirectly(platform, { count: before + counted, planId, start });
    const directory = mkdtempSync(join(tmpdir(), 'perennial-bundles-'));
    const count = before + counted;
    try {
      const empty = writeBundle(directory, 'empty', (await bundleEmpty()).code, platform);
      const product = writeBundle(directory, 'product', platform.bundle.code, platform);
      await compare({
        bench: 'workflow-memory',
        warmUps: 0,
        reference: () => memoryOf(platform, empty, (index) => startEmpty(platform, index), count),
        product: () => memoryOf(platform, product, (index) => startSubscription(platform, subscribed[index]), count),
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
    await platform.checkInvariants();
  });
}

type Start = (index: number) => Promise<string>;

/** Starts the workflows in a fresh worker process and returns the KiB that each of the later ones added. */
async function memoryOf(platform: BenchPlatform, options: CachingWorker, start: Start, count: number) {
  const worker = await startWorker(options);
  const started: string[] = [];
  try {
    started.push(...(await startAll(platform, start, 0, before)));
    const first = await rssKiB(worker);
    started.push(...(await startAll(platform, start, before, count)));
    return ((await rssKiB(worker)) - first) / (count - before);
  } finally {
    await Promise.all(started.map((id) => platform.temporal.workflow.getHandle(id).terminate('measured')));
    const exit = once(worker, 'exit');
    worker.send('stop');
    await exit;
  }
}

function bundleEmpty(): Promise<{ code: string }> {
  const workflowsPath = new URL('./workflows/empty.ts', import.meta.url).pathname;
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

/** Writes a bundle where the worker processes find it, and says what they need beside it. */
function writeBundle(
  directory: string,
  kind: CachingWorker['kind'],
  code: string,
  platform: BenchPlatform,
): CachingWorker {
  const codePath = join(directory, `${kind}.js`);
  writeFileSync(codePath, code);
  const { namespace, applicationUrl: databaseUrl } = platform;
  return { kind, codePath, address: platform.temporalServer.address, namespace, databaseUrl };
}

async function startWorker(options: CachingWorker): Promise<ChildProcess> {
  const worker = fork(new URL('./caching-worker.ts', import.meta.url), [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
  });
  const [said] = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
  if (said !== 'ready') throw new Error(`the worker of ${options.kind} workflows did not start: ${said}`);
  return worker;
}

async function rssKiB(worker: ChildProcess): Promise<number> {
  const answer = once(worker, 'message');
  worker.send('measure');
  const [bytes] = await answer;
  return Number(bytes) / 1024;
}

/** Starts workflows `from` to `to` and returns their ids when each is idle, which a query that it answers shows. */
async function startAll({ temporal }: BenchPlatform, start: Start, from: number, to: number): Promise<string[]> {
  const ids: string[] = [];
  const waiting = Array.from({ length: to - from }, (_, index) => from + index).values();
  const each = async () => {
    for (const index of waiting) {
      const id = await start(index);
      await temporal.workflow.getHandle(id).query('waitingFor');
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, each));
  return ids;
}

async function startSubscription({ temporal, scope }: BenchPlatform, subscribed: Subscribed | undefined) {
  if (!subscribed) throw new Error('more workflows than subscriptions');
  const start = {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    objectId: subscribed.subscriptionId,
    customerId: subscribed.customerId,
    testClockId: null,
    clockTime: null,
    creating: false,
  };
  const options = lifecycleStartOptions('subscription', start, 'lifecycle');
  const handle = await temporal.workflow.start('subscription', {
    ...options,
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  });
  return handle.workflowId;
}

async function startEmpty({ temporal }: BenchPlatform, index: number): Promise<string> {
  const handle = await temporal.workflow.start('empty', {
    workflowId: `empty/${index}`,
    taskQueue: 'lifecycle',
    args: [{ waitMs: 24 * hourMs }],
  });
  return handle.workflowId;
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { hasEnded, poll, type RunningProgram } from '../../dev/processes.ts';
import { startService } from '../../dev/services.ts';
import type { TestDatabase } from './database.ts';
import { testSecretKeys } from './secret-keys.ts';
import { type TestTemporal, workflowBundle } from './temporal.ts';

const secretKeys = testSecretKeys.secretEncryptionKeys.map(({ id, key }) => `${id}:${key}`).join(',');

/** Worker processes of a test file, which die at crash points. Those that live are killed at its end. `variables` adds to the environment of each. */
export function crashingWorkers(
  base: Pick<TestDatabase, 'applicationUrl'>,
  temporal: TestTemporal,
  variables: Record<string, string> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'crashing-workers-'));
  const workers: RunningProgram[] = [];
  afterAll(async () => {
    for (const worker of workers) if (!hasEnded(worker)) worker.child.kill('SIGKILL');
    for (const worker of workers) await worker.ended;
    rmSync(directory, { recursive: true, force: true });
  });

  /** A worker that dies when it reaches the crash point; without one it goes on. `env` adds to its environment. */
  async function startWorker(crashPoint = '', env: Record<string, string> = {}): Promise<RunningProgram> {
    const worker = await startService({
      name: 'worker',
      slug: `worker-${workers.length}`,
      entry: 'worker.ts',
      directory,
      env: {
        ...process.env,
        DATABASE_URL: base.applicationUrl,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
        WORKFLOW_BUNDLE: await workflowBundle(),
        PERENNIAL_CRASH_POINTS: crashPoint,
        SECRET_ENCRYPTION_KEYS: secretKeys,
        ...variables,
        ...env,
      },
      isReady: async () => true,
    });
    workers.push(worker);
    return worker;
  }

  /** Starts a worker and waits until it has died at the crash point: `syncPrices.beforeEffect:2`. */
  async function dieAt(crashPoint: string): Promise<void> {
    const worker = await startWorker(crashPoint);
    const died = await poll(async () => (hasEnded(worker) ? true : undefined), 50_000);
    expect(died, `the worker dies at ${crashPoint}`).toBe(true);
    expect(readFileSync(worker.logFile, 'utf8')).toContain(`crash point ${crashPoint.split(':')[0]} reached`);
  }

  return { startWorker, dieAt };
}

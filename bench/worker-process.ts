import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningProgram } from '../dev/processes.ts';
import { startReady, workerPolls, workerService } from '../dev/services.ts';
import type { BenchPlatform } from './platform.ts';

/** A worker in a process of its own, as in production. The caller stops it. */
export async function startWorkerProcess(
  platform: BenchPlatform,
): Promise<{ program: RunningProgram; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-bench-worker-'));
  const bundle = join(directory, 'workflows.js');
  writeFileSync(bundle, platform.bundle.code);
  const { address } = platform.temporalServer;
  const worker = await startReady({
    ...workerService,
    directory,
    env: {
      ...process.env,
      DATABASE_URL: platform.applicationUrl,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: platform.namespace,
      WORKFLOW_BUNDLE: bundle,
    },
    isReady: (pid) => workerPolls(address, platform.namespace, pid),
  });
  return {
    program: worker,
    async stop() {
      await worker.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { bundleWorkflows } from '../activities/workflow-bundle.ts';
import { temporalSettings } from '../temporal-connection.ts';
import { exitCodeOf } from './exit-code.ts';
import { homeDirectory, readRunning } from './home.ts';

const usage = 'usage: npm run replay -- <file with a history> | <workflow id> [run id]';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/**
 * `npm run replay -- <history>` takes a workflow of today through a history, a file or that of a running installation, and says where it
 * does something else than was done then. Run with `node --inspect-brk dev/replay.ts`, a debugger stops in it: docs/debugging.md.
 * TEMPORAL_ADDRESS names the installation, else it is the one `npm start` runs here.
 */
async function main(): Promise<number> {
  const [what, runId] = parseArgs({ allowPositionals: true }).positionals;
  if (what === undefined) {
    console.error(usage);
    return 1;
  }
  const history = existsSync(what) ? readHistory(what) : await fetchHistory(what, runId);
  if (history === null) return 1;
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'off' } } });
  // The SDK runs workflows in this thread then, where a debugger finds them, and lets each take as long as somebody looks at it.
  process.env.TEMPORAL_DEBUG = '1';
  const workflowBundle = await bundleWorkflows();
  try {
    await Worker.runReplayHistory({ workflowBundle }, history);
  } catch (error) {
    console.error(`${what} does not replay: ${(error as Error).message}`);
    return 1;
  }
  console.log(`${what} replays: ${history.events?.length ?? 0} events`);
  return 0;
}

/** Reads what the Temporal CLI prints of a workflow with `--output json`, or a recorded history. */
function readHistory(file: string): History | null {
  const says = (problem: string) => {
    console.error(`${file} holds no history as JSON with "events": ${problem}`);
    return null;
  };
  try {
    const history = JSON.parse(readFileSync(file, 'utf8')) as History;
    return Array.isArray(history?.events) ? history : says('there are none');
  } catch (error) {
    return says((error as Error).message);
  }
}

async function fetchHistory(workflowId: string, runId: string | undefined): Promise<History | null> {
  const running = process.env.TEMPORAL_ADDRESS ? undefined : readRunning(homeDirectory());
  const { connection: options, namespace } = temporalSettings({
    ...process.env,
    TEMPORAL_ADDRESS: process.env.TEMPORAL_ADDRESS || running?.temporalAddress,
  });
  const connection = await Connection.connect({ ...options, connectTimeout: '3s' }).catch(() => null);
  if (!connection) {
    console.error(`There is no file ${workflowId}, and Temporal does not answer on ${options.address}: ${usage}`);
    return null;
  }
  try {
    return await new Client({ connection, namespace }).workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    console.error(`${workflowId}: ${(error as Error).message}`);
    return null;
  } finally {
    await connection.close();
  }
}

process.exitCode = await exitCodeOf(main);

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, freePort } from '../../dev/ports.ts';
import { hasEnded, poll, StartupProblem, startProgram } from '../../dev/processes.ts';
import { cacheDirectory } from '../../dev/temporal-binary.ts';
import type { Counts } from './counts.ts';
import { startBridge } from './localstripe-bridge.ts';
import { localstripeFlows } from './localstripe-flows.ts';
import { localstripeGaps } from './localstripe-gaps.ts';
import { LocalstripeUnderTest } from './localstripe-under-test.ts';

const version = '1.15.10';
/** Starts it for this machine alone, and without its file of objects, which has one path for all users of a machine. */
const program = [
  'import sys',
  'from aiohttp import web',
  'from localstripe import resources, server',
  'resources.Store.dump_to_disk = lambda self: None',
  "web.run_app(server.app, host='127.0.0.1', port=int(sys.argv[1]))",
].join('\n');

/**
 * Leads Stripe's adapter through charges, refunds, events and notifications of localstripe, a stateful fake of Stripe that others wrote; pip
 * installs it once. What it lacks is told line by line. Throws `StartupProblem` where it does not run. docs: providers.md
 */
export async function againstLocalstripe(): Promise<Counts> {
  const python = installed();
  const port = await freePort();
  const server = startProgram({
    name: 'localstripe',
    file: python,
    args: ['-c', program, String(port)],
    logFile: join(tmpdir(), `localstripe-${port}.log`),
  });
  const url = `http://127.0.0.1:${port}`;
  const bridge = await startBridge(url);
  try {
    const isReady = await poll(async () => (hasEnded(server) ? false : (await accepts(port)) || undefined), 60_000);
    if (!isReady) throw new StartupProblem(`localstripe did not start; see ${server.logFile}`);
    const under = new LocalstripeUnderTest(url, bridge.url, `sk_test_${randomUUID().replaceAll('-', '')}`);
    const counts = { passed: 0, failed: 0 };
    for (const { name, run } of localstripeFlows) {
      const problem = await problemOf(() => run(under));
      if (problem === null) counts.passed += 1;
      else counts.failed += 1;
      if (problem !== null) console.log(`localstripe: ${name}\n  ${problem}`);
    }
    for (const { call, told, isThere } of localstripeGaps) {
      const problem = await problemOf(async () => {
        if (!(await isThere(under))) throw new Error('localstripe does this now: try it, and take the line away');
      });
      console.log(`localstripe: ${call}: ${told}`);
      if (problem !== null) console.log(`  ${problem}`);
      counts.failed += problem === null ? 0 : 1;
    }
    console.log(
      `localstripe ${version}: ${counts.passed} passed, ${counts.failed} failed, ${localstripeGaps.length} gaps told above`,
    );
    return counts;
  } finally {
    bridge.close();
    await server.stop();
  }
}

async function problemOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The Python of an environment that has localstripe. */
function installed(): string {
  const directory = join(cacheDirectory(), `localstripe-${version}`);
  const python = join(directory, 'bin', 'python');
  if (existsSync(join(directory, 'bin', 'localstripe'))) return python;
  try {
    execFileSync('python3', ['-m', 'venv', directory], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `localstripe==${version}`];
    execFileSync(python, pip, { stdio: 'inherit' });
  } catch {
    throw new StartupProblem(
      'localstripe could not be installed: install python3 with venv and see that its package index is reachable',
    );
  }
  return python;
}

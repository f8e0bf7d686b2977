import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiProblem } from './demo/client.ts';
import { runPrepaid } from './demo/prepaid.ts';
import { prepaidReport } from './demo/prepaid-report.ts';
import { demoProgress } from './demo/progress.ts';
import { demoReport } from './demo/report.ts';
import { runDemo } from './demo/run.ts';
import { homeDirectory, readRunning, readSettings, writeSettings } from './home.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { freePort } from './ports.ts';
import { removeDirectory } from './postgres-account.ts';
import { StartupProblem } from './processes.ts';
import { apiAnswers } from './services.ts';
import type { ApiTarget } from './target.ts';

/**
 * Entry file of `npm run demo`: bills 40 airports for the flights of early 2001 and prints what came out; with `--prepaid`, 200 customers
 * buy tokens in advance, and every wallet and its money is printed. Runs against
 * `--address` with `--api-key`, else the platform `npm start` runs here, else one of its own in a temporary directory.
 */
const { isPrepaid, ...named } = readOptions(process.argv.slice(2));
const target = readTarget(named, process.env);
let own: { launcher: Launcher; directory: string } | undefined;
let stopping: Promise<void> | undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void stopOwn().then(() => process.exit(130));
  });
}

let exitCode = 0;
try {
  const { apiUrl, apiKey } = target ? await reachable(target) : await startOwn();
  const options = { address: apiUrl, apiKey, onProgress: demoProgress(process.stderr) };
  if (isPrepaid) {
    const proof = prepaidReport(await runPrepaid(options));
    console.log(proof.text);
    if (!proof.holds) exitCode = 1;
  } else console.log(demoReport(await runDemo(options)));
} catch (error) {
  exitCode = interrupted ? 130 : 1;
  // What stopping makes fail is no news.
  if (!interrupted)
    console.error(error instanceof StartupProblem || error instanceof ApiProblem ? error.message : error);
}
await stopOwn();
process.exit(exitCode);

interface NamedTarget {
  address?: string | undefined;
  apiKey?: string | undefined;
}

/** Where the demo runs; undefined when nothing was named and nothing runs here. */
function readTarget({ address, apiKey }: NamedTarget, env: NodeJS.ProcessEnv): ApiTarget | undefined {
  const running = readRunning(homeDirectory(env));
  const named = address || env.PERENNIAL_URL || running?.apiUrl;
  if (!named) return undefined;
  const apiUrl = named.replace(/\/(v1\/?)?$/, '');
  const key = apiKey || env.PERENNIAL_API_KEY || (apiUrl === running?.apiUrl ? running.apiKey : undefined);
  if (!key) endWithUsage(`Give a key of ${apiUrl} with --api-key or in PERENNIAL_API_KEY.`);
  return { apiUrl, apiKey: key };
}

function readOptions(args: string[]): NamedTarget & { isPrepaid: boolean } {
  try {
    const options = {
      address: { type: 'string' },
      'api-key': { type: 'string' },
      prepaid: { type: 'boolean' },
    } as const;
    const { values } = parseArgs({ args, options });
    return { address: values.address, apiKey: values['api-key'], isPrepaid: values.prepaid ?? false };
  } catch (error) {
    return endWithUsage((error as Error).message);
  }
}

function endWithUsage(problem: string): never {
  console.error(`${problem}\nUsage: npm run demo [-- --prepaid --address http://127.0.0.1:8080 --api-key <key>]`);
  process.exit(2);
}

/** A wrong address is said at once; during the run the client waits for a restarting API. */
async function reachable(named: ApiTarget): Promise<ApiTarget> {
  if (await apiAnswers(named.apiUrl)) return named;
  throw new StartupProblem(
    `No Perennial is ready at ${named.apiUrl}: start it there, or name another with --address; without one the demo starts its own.`,
  );
}

async function startOwn(): Promise<ApiTarget> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-demo-'));
  const say = (line: string) => console.error(line);
  say('Nothing runs here, so the demo starts a platform of its own and stops it afterwards.');
  // The usual ports stay free for an npm start meanwhile.
  const ports = { postgres: await freePort(), temporal: await freePort(), temporalUi: await freePort() };
  writeSettings(directory, { ...readSettings(directory), ports });
  const launcher = createLauncher({ directory, apiPort: await freePort(), reset: false, env: process.env, say });
  own = { launcher, directory };
  return launcher.start();
}

function stopOwn(): Promise<void> {
  stopping ??= (async () => {
    if (!own) return;
    await own.launcher.stop();
    removeDirectory(join(own.directory, 'postgres'));
    rmSync(own.directory, { recursive: true, force: true });
  })();
  return stopping;
}

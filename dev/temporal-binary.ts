import { type ChildProcess, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { StartupProblem } from './processes.ts';

const cliVersion = '1.5.1';

type Say = (line: string) => void;

/** The user's cache directory of Perennial: built or downloaded programs, shared by every checkout. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const base =
    env.XDG_CACHE_HOME ||
    (process.platform === 'darwin' ? join(homedir(), 'Library/Caches') : join(homedir(), '.cache'));
  return join(base, 'perennial');
}

/**
 * Finds the Temporal CLI, which contains the dev server: `TEMPORAL_CLI`, `temporal` on the PATH, the cache, the official
 * download, and at last a build from the Go module proxy into the cache. `say` is told about everything that takes time.
 * design: architecture §8
 */
export async function temporalCli(
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
): Promise<string> {
  if (env.TEMPORAL_CLI) {
    if (isExecutable(env.TEMPORAL_CLI)) return env.TEMPORAL_CLI;
    throw new StartupProblem(
      `TEMPORAL_CLI names ${env.TEMPORAL_CLI}, which is no executable file: correct it or unset it.`,
    );
  }
  const cached = join(cacheDirectory(env), `temporal-v${cliVersion}`, 'temporal');
  const found = onPath('temporal', env) ?? (isExecutable(cached) ? cached : undefined);
  if (found) return found;
  say(`Temporal's dev server is fetched once and kept in ${cacheDirectory(env)}.`);
  // A machine known to have no internet need not wait for the download to fail.
  if (!env.PERENNIAL_OFFLINE && (await download(cached, say, env, signal))) return cached;
  if (await goInstall(`github.com/temporalio/cli/cmd/temporal@v${cliVersion}`, cached, say, env, signal)) return cached;
  throw new StartupProblem(
    `No Temporal server was found: install the Temporal CLI ${cliVersion} (or Go 1.25, with which it is built once), ` +
      'set TEMPORAL_CLI to its file, or set TEMPORAL_ADDRESS to a running server.',
  );
}

/** Builds a program from the Go module proxy with progress shown. False when there is no Go or the build fails. */
export async function goInstall(
  module: string,
  destination: string,
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
): Promise<boolean> {
  const go = onPath('go', env) ?? ['/usr/local/go/bin/go', '/usr/lib/go/bin/go'].find(isExecutable);
  if (!go) return false;
  mkdirSync(join(destination, '..'), { recursive: true });
  const target = mkdtempSync(join(destination, '../build-'));
  const startedMs = performance.now();
  say(`building ${module} with Go, once; this takes about five minutes`);
  let last = '';
  const child = spawn(go, ['install', '-v', module], {
    env: { ...env, GOBIN: target, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  let packages = 0;
  child.stderr.on('data', (chunk: Buffer) => {
    const lines = chunk.toString().trim().split('\n');
    packages += lines.length;
    last = lines.at(-1) ?? last;
  });
  const progress = setInterval(() => {
    say(`  ${Math.round((performance.now() - startedMs) / 1000)} s, ${packages} packages, now ${last.slice(0, 80)}`);
  }, 10_000);
  const code = await endOf(child);
  clearInterval(progress);
  const [built] = readdirSync(target);
  if (code === 0 && built) renameSync(join(target, built), destination);
  else say(`  the build failed: ${last}`);
  rmSync(target, { recursive: true, force: true });
  return code === 0 && built !== undefined;
}

const downloadLimitMs = 5 * 60_000;
const firstByteLimitMs = 15_000;

/**
 * The official download, in a process of its own: the SDK's downloader has no time limit, and a machine without internet
 * may only notice after minutes. Nothing arrived in the first seconds means there is none.
 */
async function download(destination: string, say: Say, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<boolean> {
  mkdirSync(join(destination, '..'), { recursive: true });
  const directory = mkdtempSync(join(destination, '../download-'));
  const script = `
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const environment = await TestWorkflowEnvironment.createLocal({ server: { executable: {
      type: 'cached-download', version: 'v${cliVersion}', downloadDir: process.argv[1] } } });
    await environment.teardown();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
    cwd: join(import.meta.dirname, '..'),
    env,
    stdio: 'ignore',
    ...(signal ? { signal } : {}),
  });
  const limits = [
    setTimeout(() => readdirSync(directory).length === 0 && child.kill('SIGKILL'), firstByteLimitMs),
    setTimeout(() => child.kill('SIGKILL'), downloadLimitMs),
  ];
  const code = await endOf(child);
  for (const limit of limits) clearTimeout(limit);
  const file = readdirSync(directory).find((name) => isExecutable(join(directory, name)));
  if (code === 0 && file) copyFileSync(join(directory, file), destination);
  else say('  the official download is not reachable');
  rmSync(directory, { recursive: true, force: true });
  return code === 0 && file !== undefined;
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(1));
  });
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const directories = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

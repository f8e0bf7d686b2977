import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { demoProgress } from './demo/progress.ts';
import { demoReport } from './demo/report.ts';
import { runDemo } from './demo/run.ts';
import { homeDirectory, readRunning } from './home.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { freePort } from './ports.ts';
import { removeDirectory } from './postgres-account.ts';
import { StartupProblem } from './processes.ts';
import { type ApiTarget, apiTarget } from './target.ts';

/**
 * Entry file of `npm run demo`: bills 40 airports for the flights of early 2001 and prints what came out. Runs against
 * `--address` with `--api-key`, else the platform `npm start` runs here, else one of its own in a temporary directory.
 */
const usage = 'npm run demo [-- --address http://127.0.0.1:8080 --api-key sk_…]';
const target = readTarget(process.argv.slice(2), process.env);
let own: { launcher: Launcher; directory: string } | undefined;
let stopping: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopOwn().then(() => process.exit(130)));
}

let exitCode = 0;
try {
  const { apiUrl, apiKey } = target ?? (await startOwn());
  const result = await runDemo({ address: apiUrl, apiKey, onProgress: demoProgress(process.stderr) });
  console.log(demoReport(result));
} catch (error) {
  exitCode = 1;
  console.error(error instanceof StartupProblem ? error.message : error);
}
await stopOwn();
process.exit(exitCode);

function readTarget(args: string[], env: NodeJS.ProcessEnv): ApiTarget | undefined {
  try {
    const { values } = parseArgs({ args, options: { address: { type: 'string' }, 'api-key': { type: 'string' } } });
    const running = readRunning(homeDirectory(env));
    const address = values.address ?? env.PERENNIAL_URL;
    if (!address && !running) return undefined;
    const apiKey = values['api-key'] ?? (address === running?.apiUrl ? running?.apiKey : undefined);
    return apiTarget({
      ...env,
      ...(address ? { PERENNIAL_URL: address } : {}),
      ...(apiKey ? { PERENNIAL_API_KEY: apiKey } : {}),
    });
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: ${usage}`);
    process.exit(2);
  }
}

async function startOwn(): Promise<ApiTarget> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-demo-'));
  const say = (line: string) => console.error(line);
  say('Nothing runs here, so the demo starts a platform of its own and stops it afterwards.');
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

import { homeDirectory } from './home.ts';
import { type Addresses, createLauncher } from './launcher.ts';
import { StartupProblem } from './processes.ts';

/** Entry file of `npm start`: runs the whole platform on this machine until Ctrl-C. */
const options = readArguments(process.argv.slice(2), process.env);
const launcher = createLauncher({ ...options, env: process.env, say: (line) => console.log(line) });
const interrupted = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
});

const startedMs = performance.now();
let exitCode = 0;
try {
  const addresses = await Promise.race([launcher.start(), interrupted]);
  if (typeof addresses !== 'string') {
    console.log(welcome(addresses, (performance.now() - startedMs) / 1000));
    const crash = await Promise.race([launcher.crash(), interrupted.then(() => undefined)]);
    if (crash !== undefined) throw new StartupProblem(crash);
  }
  console.log('\nStopping …');
} catch (error) {
  exitCode = 1;
  console.error(error instanceof StartupProblem ? `\n${error.message}` : error);
}
await launcher.stop();
if (exitCode === 0) console.log('Stopped. The data stays; npm start continues with it.');
process.exit(exitCode);

function readArguments(args: string[], env: NodeJS.ProcessEnv) {
  const unknown = args.find((argument) => argument !== '--reset');
  const apiPort = Number(env.PORT || 8080);
  if (unknown !== undefined || !Number.isInteger(apiPort) || apiPort < 1 || apiPort > 65_535) {
    console.error(
      unknown === undefined
        ? `PORT is ${env.PORT}: give a port between 1 and 65535.`
        : `There is no option ${unknown}: use npm start, or npm start -- --reset to begin anew.`,
    );
    process.exit(2);
  }
  return { directory: homeDirectory(env), apiPort, reset: args.includes('--reset') };
}

function welcome({ apiUrl, apiKey, temporalAddress, temporalUiUrl }: Addresses, seconds: number): string {
  const ui = temporalUiUrl ?? `that of the server at ${temporalAddress}`;
  return `
Perennial is running (ready after ${seconds.toFixed(1)} s).

  API            ${apiUrl}/v1
  API reference  ${apiUrl}/reference
  Temporal UI    ${ui}
  API key        ${apiKey}

A first call:

  curl -sS '${apiUrl}/v1/customers' -H 'x-api-key: ${apiKey}' \\
    -H 'content-type: application/json' -d '{"external_id":"first","name":"First customer"}'

The main job on real data: npm run demo (in another terminal). Ctrl-C stops everything.`;
}

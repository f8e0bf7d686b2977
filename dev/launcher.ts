import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { applicationRole, prepareDatabase } from '../db/prepare.ts';
import { installSandboxGateway } from '../integrations/sandbox-gateway/store.ts';
import { temporalSettings } from '../temporal-connection.ts';
import {
  closeHome,
  type HomeSettings,
  openHome,
  readSettings,
  resetHome,
  writeRunning,
  writeSettings,
} from './home.ts';
import { freePort, isPortFree, onFreePorts, portsBeside } from './ports.ts';
import { endFormerPostgres, startPostgres } from './postgres.ts';
import { endFormerProgram, hasEnded, type RunningProgram, StartupProblem } from './processes.ts';
import { type ProviderFakes, startProviderFakes } from './provider-fakes/start.ts';
import { makeTenant } from './sandbox.ts';
import { apiAnswers, lastWords, startReady, workerPolls, workerService } from './services.ts';
import { temporalCli } from './temporal-binary.ts';
import { prepareNamespace } from './temporal-namespace.ts';
import { startTemporal } from './temporal-server.ts';

export interface LaunchOptions {
  directory: string;
  apiPort: number;
  /** Forget everything earlier starts kept. */
  reset: boolean;
  env: NodeJS.ProcessEnv;
  say(line: string): void;
}

export interface Addresses {
  apiUrl: string;
  apiKey: string;
  temporalAddress: string;
  /** Null when the Temporal server is not ours. */
  temporalUiUrl: string | null;
}

export interface Launcher {
  /** Starts all parts; returns when API and worker are ready. Throws a StartupProblem that says what to do. */
  start(): Promise<Addresses>;
  /** Resolves with the reason when a part ends that nobody stopped. Ask after `start`. */
  crash(): Promise<string>;
  /** Stops what was started and nothing else. Calling it again waits for the first call. */
  stop(): Promise<void>;
}

const namespace = 'default';
/** Requests and activities are drained before the servers they need go away. */
const stopOrder = ['API', 'worker', 'Temporal', 'PostgreSQL'];

/** One command mode: embedded PostgreSQL, Temporal's dev server, API and worker as processes. design: architecture §8 */
export function createLauncher(options: LaunchOptions): Launcher {
  let programs: RunningProgram[] = [];
  const interruption = new AbortController();
  let starting: Promise<Addresses> | undefined;
  let stopping: Promise<void> | undefined;
  let holdsHome = false;
  let fakes: ProviderFakes | undefined;

  const onStart = (program: RunningProgram) => {
    // A part that is tried again, on another port, takes the place of its former try.
    programs = [...programs.filter((other) => other.name !== program.name || !hasEnded(other)), program];
    if (interruption.signal.aborted) void program.stop();
  };

  async function stopPrograms(): Promise<void> {
    const ordered = programs.toSorted((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
    for (const program of ordered) await program.stop();
  }

  async function start(): Promise<Addresses> {
    openHome(options.directory);
    holdsHome = true;
    await clearTheWay(options);
    const settings = await choosePorts(options);
    const [database, temporal] = await all([
      startDatabase(options, settings, onStart),
      findTemporal(options, settings, interruption.signal, onStart),
    ]);
    interruption.signal.throwIfAborted();
    writeSettings(options.directory, {
      ...settings,
      ports: { ...settings.ports, ...database.ports, ...temporal.ports },
    });
    const apiUrl = `http://127.0.0.1:${options.apiPort}`;
    fakes = await startProviderFakes(options.env, options.say);
    await startServices({ ...options, env: { ...options.env, ...fakes.variables } }, onStart, {
      apiUrl,
      databaseUrl: database.applicationUrl,
      temporalAddress: temporal.address,
      portalSigningKey: settings.portalSigningKey,
      secretEncryptionKey: settings.secretEncryptionKey,
    });
    const { apiKey, applicationUrl: databaseUrl, ownerUrl: databaseOwnerUrl } = database;
    writeRunning(options.directory, {
      apiUrl,
      apiKey,
      databaseUrl,
      databaseOwnerUrl,
      temporalAddress: temporal.address,
    });
    return { apiUrl, apiKey, temporalAddress: temporal.address, temporalUiUrl: temporal.uiUrl };
  }

  return {
    start() {
      starting ??= start();
      return starting;
    },
    async crash() {
      const program = await Promise.race(programs.map((each) => each.ended.then(() => each)));
      const { code, signal } = await program.ended;
      const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      return `The ${program.name} process ${how}, so everything was stopped: ${lastWords(program.logFile)} (all of it in ${program.logFile})`;
    },
    stop() {
      stopping ??= (async () => {
        interruption.abort();
        await stopPrograms();
        // A start that waits for a foreign server gives up late; what it may still start is stopped at once by onStart.
        await Promise.race([starting?.catch(() => undefined), delay(3_000, undefined, { ref: false })]);
        await stopPrograms();
        await fakes?.close();
        if (holdsHome) closeHome(options.directory);
      })();
      return stopping;
    },
  };
}

/** Ends what a killed launcher left running, and checks that nothing else is in the way. */
async function clearTheWay({ directory, apiPort, reset }: LaunchOptions): Promise<void> {
  const former = ['api', 'worker', 'temporal'].map((slug) =>
    endFormerProgram(join(directory, `${slug}.pid`), 'SIGTERM', 3_000),
  );
  await Promise.all(former);
  await endFormerPostgres(join(directory, 'postgres'));
  if (reset) resetHome(directory);
  if (!(await isPortFree(apiPort))) {
    throw new StartupProblem(
      `Port ${apiPort} is in use by another program: stop that program, or choose another port with PORT=${apiPort + 10} npm start.`,
    );
  }
  for (const slug of ['postgres', 'temporal', 'api', 'worker']) writeFileSync(join(directory, `${slug}.log`), '');
}

/** The ports of the last start beside this one of the API where they are still free, so that addresses stay the same. */
async function choosePorts({
  directory,
  apiPort,
}: LaunchOptions): Promise<HomeSettings & { ports: NonNullable<HomeSettings['ports']> }> {
  const settings = readSettings(directory);
  const last = settings.ports?.api === apiPort ? settings.ports : portsBeside(apiPort);
  const ports = {
    api: apiPort,
    postgres: await freePort(last.postgres),
    temporal: await freePort(last.temporal),
    temporalUi: await freePort(last.temporalUi),
  };
  const chosen = { ...settings, ports };
  writeSettings(directory, chosen);
  return chosen;
}

type OnStart = (program: RunningProgram) => void;
type Settings = Awaited<ReturnType<typeof choosePorts>>;

async function startDatabase({ directory, say }: LaunchOptions, settings: Settings, onStart: OnStart) {
  const { server, ports } = await onFreePorts({ postgres: settings.ports.postgres }, ({ postgres: port }) =>
    startPostgres({
      directory: join(directory, 'postgres'),
      port,
      password: settings.postgresPassword,
      logFile: join(directory, 'postgres.log'),
      onStart,
    }),
  );
  const prepared = await prepareDatabase({
    ownerUrl: server.url('perennial'),
    applicationPassword: settings.applicationPassword,
  });
  await installSandboxGateway(prepared.ownerUrl, applicationRole);
  if (prepared.migrations.length > 0) say(`PostgreSQL is ready; applied ${prepared.migrations.length} migrations.`);
  await makeTenant(prepared.applicationUrl, 'Sandbox', settings.apiKey);
  return { ...prepared, apiKey: settings.apiKey, ports };
}

async function findTemporal(
  { directory, env, say }: LaunchOptions,
  settings: Settings,
  signal: AbortSignal,
  onStart: OnStart,
) {
  if (env.TEMPORAL_ADDRESS) {
    const { connection } = temporalSettings(env);
    await prepareNamespace(connection, namespace);
    return { address: connection.address, uiUrl: null, ports: {} };
  }
  const cli = await temporalCli(say, env, signal);
  const preferred = { temporal: settings.ports.temporal, temporalUi: settings.ports.temporalUi };
  const { server, ports } = await onFreePorts(preferred, ({ temporal: port, temporalUi: uiPort }) =>
    startTemporal({
      cli,
      port,
      uiPort,
      databaseFile: join(directory, 'temporal.db'),
      logFile: join(directory, 'temporal.log'),
      pidFile: join(directory, 'temporal.pid'),
      onStart,
    }),
  );
  await prepareNamespace(server.address, namespace);
  return { address: server.address, uiUrl: `http://127.0.0.1:${ports.temporalUi}`, ports };
}

/** Variables about a Temporal server do not hold for the built-in one. */
function withoutTemporal(env: LaunchOptions['env']): LaunchOptions['env'] {
  if (env.TEMPORAL_ADDRESS) return env;
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^TEMPORAL_(?:TLS|API_KEY|PROFILE|CONFIG_FILE|GRPC_META)/.test(name)),
  );
}

/** Starts the production entry files and waits until both are ready. */
async function startServices(
  { directory, apiPort, env }: LaunchOptions,
  onStart: OnStart,
  addresses: Record<'apiUrl' | 'databaseUrl' | 'temporalAddress' | 'portalSigningKey' | 'secretEncryptionKey', string>,
): Promise<void> {
  const environment = {
    ...withoutTemporal(env),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PORTAL_SIGNING_KEYS: env.PORTAL_SIGNING_KEYS || addresses.portalSigningKey,
    SECRET_ENCRYPTION_KEYS: env.SECRET_ENCRYPTION_KEYS || addresses.secretEncryptionKey,
    SHUTDOWN_TIMEOUT_MS: '3000',
  };
  const common = { directory, env: environment, onStart };
  await all([
    startReady({
      ...common,
      ...workerService,
      isReady: (pid) => workerPolls(temporalSettings(environment).connection, namespace, pid),
    }),
    startReady({
      ...common,
      name: 'API',
      slug: 'api',
      entry: 'api/server.ts',
      isReady: () => apiAnswers(addresses.apiUrl),
    }),
  ]);
}

/** Like Promise.all, but waits for every part, so that nothing goes on starting after a failure was reported. */
async function all<T extends readonly unknown[]>(parts: [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T> {
  const results = await Promise.allSettled(parts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

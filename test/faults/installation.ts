import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../activities/workflow-bundle.ts';
import { fileServerHost } from '../../bench/ingest/file-server.ts';
import { applicationRole, prepareDatabase } from '../../db/prepare.ts';
import { freePort } from '../../dev/ports.ts';
import { startPostgres } from '../../dev/postgres.ts';
import type { RunningProgram } from '../../dev/processes.ts';
import { makeTenant } from '../../dev/sandbox.ts';
import { apiAnswers, startReady, workerPolls, workerService } from '../../dev/services.ts';
import { temporalCli } from '../../dev/temporal-binary.ts';
import { prepareNamespace } from '../../dev/temporal-namespace.ts';
import { startTemporal } from '../../dev/temporal-server.ts';
import { installSandboxGateway } from '../../integrations/sandbox-gateway/store.ts';
import { keepRunning, type Part, type PartName, type PartOptions } from './part.ts';

export interface InstallationOptions {
  directory: string;
  /** Address of a server that plays Stripe. */
  stripeUrl?: string;
  /** Name and port of a receiver of webhooks. */
  receiverHost?: string;
  /** PERENNIAL_CRASH_POINTS of the next worker. */
  armedPoints(): string;
  onSurprise(problem: string): void;
  onGivingUp(problem: string): void;
  /** A worker ended: its log may tell at which crash point. */
  onWorkerEnd(): void;
  say(line: string): void;
}

/** Everything `npm start` runs, each part a real process that may be killed. */
export interface Installation {
  parts: Record<PartName, Part>;
  apiUrl: string;
  apiKey: string;
  /** Address to which a provider sends its notifications. */
  notificationsUrl: string;
  applicationUrl: string;
  ownerUrl: string;
  temporalAddress: string;
  workerLog: string;
  stop(): Promise<void>;
}

const namespace = 'default';
const stopOrder = ['API', 'worker', 'Temporal', 'PostgreSQL'] as const;

/** Starts PostgreSQL with its data on disk, Temporal's dev server on its file, the API and a worker, on free ports. */
export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { directory, onSurprise, onGivingUp } = options;
  const parts: Partial<Record<PartName, Part>> = {};
  const stop = async () => {
    for (const name of stopOrder) await parts[name]?.stop();
  };
  const keep = async (part: Pick<PartOptions, 'name' | 'start' | 'onEnd'>) => {
    parts[part.name] = await keepRunning({ ...part, onSurprise, onGivingUp });
  };
  try {
    const database = await keepDatabase(directory, keep);
    const temporalAddress = await keepTemporal(options, keep);
    const { apiKey, tenantId, environmentId } = await makeTenant(database.applicationUrl, 'Fault test');
    const apiUrl = await keepServices(options, keep, { ...database, temporalAddress });
    const workerLog = join(directory, 'worker.log');
    return {
      ...database,
      parts: parts as Record<PartName, Part>,
      temporalAddress,
      apiUrl,
      apiKey,
      notificationsUrl: `${apiUrl}/v1/webhooks/stripe/${tenantId}/${environmentId}`,
      workerLog,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = (part: Pick<PartOptions, 'name' | 'start' | 'onEnd'>) => Promise<void>;

async function keepDatabase(directory: string, keep: Keep) {
  const port = await freePort();
  const password = 'fault-test';
  const start = (onStart: (program: RunningProgram) => void) =>
    startPostgres({
      directory: join(directory, 'postgres'),
      port,
      password,
      logFile: join(directory, 'postgres.log'),
      onStart,
    });
  await keep({ name: 'PostgreSQL', start: async (onStart) => (await start(onStart)).program });
  const ownerUrl = `postgresql://postgres:${password}@127.0.0.1:${port}/perennial`;
  const { applicationUrl } = await prepareDatabase({ ownerUrl, applicationPassword: 'application' });
  await installSandboxGateway(ownerUrl, applicationRole);
  return { ownerUrl, applicationUrl };
}

async function keepTemporal({ directory, say }: InstallationOptions, keep: Keep): Promise<string> {
  const cli = await temporalCli(say);
  const port = await freePort();
  const files = {
    databaseFile: join(directory, 'temporal.db'),
    logFile: join(directory, 'temporal.log'),
    pidFile: join(directory, 'temporal.pid'),
  };
  const address = `127.0.0.1:${port}`;
  const start = async (onStart: (program: RunningProgram) => void) => {
    const { program } = await startTemporal({ cli, port, ...files, onStart });
    return program;
  };
  await keep({ name: 'Temporal', start });
  await prepareNamespace(address, namespace);
  return address;
}

async function keepServices(
  { directory, stripeUrl, receiverHost, armedPoints, onWorkerEnd }: InstallationOptions,
  keep: Keep,
  addresses: { applicationUrl: string; temporalAddress: string },
): Promise<string> {
  const port = await freePort();
  const apiUrl = `http://127.0.0.1:${port}`;
  const bundle = join(directory, 'workflows.js');
  writeFileSync(bundle, (await bundleWorkflows()).code);
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: 'node_modules/.cache/compile',
    DATABASE_URL: addresses.applicationUrl,
    WORKFLOW_BUNDLE: bundle,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    HOST: '127.0.0.1',
    PORT: String(port),
    SHUTDOWN_TIMEOUT_MS: '3000',
    RATE_LIMIT_PER_SECOND: '0',
    OUTGOING_ALLOWED_HOSTS: fileServerHost,
    WEBHOOK_ALLOWED_HOSTS: receiverHost ?? '',
    PORTAL_SIGNING_KEYS: 'a-key-for-the-payment-pages-of-fault-tests',
    SECRET_ENCRYPTION_KEYS: `faults:${'0'.repeat(64)}`,
    ...(stripeUrl === undefined ? {} : { STRIPE_API_URL: stripeUrl }),
  };
  await Promise.all([
    keep({
      name: 'worker',
      onEnd: onWorkerEnd,
      start: (onStart) =>
        startReady({
          ...workerService,
          directory,
          env: { ...env, PERENNIAL_CRASH_POINTS: armedPoints() },
          onStart,
          isReady: (pid) => workerPolls(addresses.temporalAddress, namespace, pid),
        }),
    }),
    keep({
      name: 'API',
      start: (onStart) =>
        startReady({
          name: 'API',
          slug: 'api',
          entry: 'api/server.ts',
          directory,
          env,
          onStart,
          isReady: () => apiAnswers(apiUrl),
        }),
    }),
  ]);
  return apiUrl;
}

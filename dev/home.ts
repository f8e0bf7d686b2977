import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { newKeyText } from '../services/platform/tenant.ts';
import { removeDirectory } from './postgres-account.ts';
import { commandOf, isAlive, StartupProblem } from './processes.ts';

/** What every start on the same data uses again. */
export interface HomeSettings {
  postgresPassword: string;
  applicationPassword: string;
  /** The sandbox's API key, printed at every start. */
  apiKey: string;
  /** Signs the sessions of the customer portal. */
  portalSigningKey: string;
  /** Seals the secrets of connections. */
  secretEncryptionKey: string;
  /** Ports of the last start, so that addresses stay the same where they can; `api` is that of the API they stood beside. */
  ports?: { api?: number; postgres: number; temporal: number; temporalUi: number };
}

/** Where a running launcher's servers are found by the demo, the checks and the benches. */
export interface RunningAddresses {
  apiUrl: string;
  apiKey: string;
  databaseUrl: string;
  databaseOwnerUrl: string;
  temporalAddress: string;
}

/** The directory of the launcher's data: `.perennial` beside package.json, or PERENNIAL_HOME. */
export function homeDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.PERENNIAL_HOME || join(import.meta.dirname, '../.perennial'));
}

/** Makes the directory and takes it for this process. Throws a StartupProblem when it is not writable or in use. */
export function openHome(directory: string): void {
  try {
    // Not recursive: Node never returns from that where the kernel refuses, as in /proc.
    if (!existsSync(directory)) mkdirSync(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
    const other = holderOf(directory);
    if (other !== undefined) {
      throw new StartupProblem(
        `Perennial already runs on ${directory} as process ${other}: stop that one with Ctrl-C (or kill ${other}), or set PERENNIAL_HOME to another directory.`,
      );
    }
    writeFileSync(lockFile(directory), `${process.pid}\n${commandOf(process.pid)}\n`);
  } catch (error) {
    if (error instanceof StartupProblem) throw error;
    throw new StartupProblem(
      `The directory ${directory} is not writable (${(error as NodeJS.ErrnoException).code}): make it writable, or set PERENNIAL_HOME to a directory that is.`,
    );
  }
}

/** Gives the directory back. */
export function closeHome(directory: string): void {
  rmSync(runningFile(directory), { force: true });
  rmSync(lockFile(directory), { force: true });
}

/** Removes everything an earlier start kept; the directory itself stays. */
export function resetHome(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (join(directory, name) !== lockFile(directory)) removeDirectory(join(directory, name));
  }
}

/** Reads the settings, making them on the first start. */
export function readSettings(directory: string): HomeSettings {
  const file = join(directory, 'settings.json');
  const made = {
    portalSigningKey: randomBytes(32).toString('base64url'),
    secretEncryptionKey: `start:${randomBytes(32).toString('hex')}`,
  };
  if (existsSync(file)) {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Omit<HomeSettings, keyof typeof made>;
    // A home of before there was a portal, or a connection, gets its key now.
    const settings = { ...made, ...kept };
    if (Object.keys(made).some((name) => !(name in kept))) writeSettings(directory, settings);
    return settings;
  }
  const settings: HomeSettings = {
    ...made,
    postgresPassword: randomBytes(18).toString('base64url'),
    applicationPassword: randomBytes(18).toString('base64url'),
    apiKey: newKeyText('private_key'),
  };
  writeSettings(directory, settings);
  return settings;
}

/** Replaces the settings as a whole; only their owner may read them. */
export function writeSettings(directory: string, settings: HomeSettings): void {
  writePrivate(join(directory, 'settings.json'), settings);
}

/** Publishes the addresses of a launcher that is ready. */
export function writeRunning(directory: string, addresses: RunningAddresses): void {
  writePrivate(runningFile(directory), addresses);
}

/** The addresses of the launcher that runs on this directory, or undefined when none does. */
export function readRunning(directory: string = homeDirectory()): RunningAddresses | undefined {
  const file = runningFile(directory);
  if (holderOf(directory) === undefined || !existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, 'utf8')) as RunningAddresses;
}

function holderOf(directory: string): number | undefined {
  if (!existsSync(lockFile(directory))) return undefined;
  const [pidText = '', command = ''] = readFileSync(lockFile(directory), 'utf8').split('\n');
  const pid = Number(pidText);
  return pid > 1 && pid !== process.pid && isAlive(pid) && commandOf(pid) === command ? pid : undefined;
}

function writePrivate(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function lockFile(directory: string): string {
  return join(directory, 'launcher.pid');
}

function runningFile(directory: string): string {
  return join(directory, 'running.json');
}

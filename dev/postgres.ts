import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PortTaken } from './ports.ts';
import { type PostgresInstallation, postgresInstallation, reachableDirectory } from './postgres-account.ts';
import {
  commandOf,
  endProcess,
  hasEnded,
  isAlive,
  poll,
  type RunningProgram,
  StartupProblem,
  startProgram,
} from './processes.ts';

export interface PostgresOptions {
  /** Where the data lives; created on the first start. */
  directory: string;
  port: number;
  /** The password of the superuser `postgres`. Written into a new cluster; later starts must give the same. */
  password: string;
  logFile: string;
  /** Settings on top of the defaults: `{ fsync: 'off' }`. */
  settings?: Record<string, string>;
  onStart?: ((program: RunningProgram) => void) | undefined;
}

export interface RunningPostgres {
  readonly port: number;
  readonly program: RunningProgram;
  /** A URL of the superuser for one database. */
  url(databaseName: string): string;
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL on the loopback address, initialising its data directory on the first start. A server
 * that an earlier launcher left running on the same data is stopped first, and a `postmaster.pid` that names no
 * PostgreSQL is removed, so a start after `kill -9` of everything recovers. Throws PortTaken when another has its port.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const installation = postgresInstallation();
  const directory = reachableDirectory(options.directory, installation.account);
  await endFormerPostgres(directory);
  if (!existsSync(join(directory, 'data/PG_VERSION'))) initialise(installation, directory, options.password);
  const program = await startServer(installation, join(directory, 'data'), options);
  return {
    port: options.port,
    program,
    url: (databaseName) =>
      `postgresql://postgres:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/${databaseName}`,
    stop: program.stop,
  };
}

/** Makes the data under another name and renames it, so that an interrupted first start begins anew. */
function initialise(installation: PostgresInstallation, directory: string, password: string): void {
  const partial = join(directory, 'data.new');
  rmSync(partial, { recursive: true, force: true });
  const secrets = mkdtempSync(join(tmpdir(), 'perennial-'));
  const passwordFile = join(secrets, 'password');
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    const { uid, gid } = installation.account;
    if (uid !== undefined && gid !== undefined) for (const path of [secrets, passwordFile]) chownSync(path, uid, gid);
    const flags = [
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--no-locale',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ];
    const result = spawnSync(
      join(installation.bin, 'initdb'),
      ['-D', partial, ...flags, '--no-sync', `--pwfile=${passwordFile}`],
      {
        ...installation.account,
        cwd: '/',
        encoding: 'utf8',
      },
    );
    if (result.status !== 0) {
      throw new StartupProblem(
        `PostgreSQL could not make its data in ${directory}: ${lastLine(result.stderr ?? '') || result.error?.message}`,
      );
    }
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
  renameSync(partial, join(directory, 'data'));
}

/**
 * Starts the server and waits until it accepts connections. Children of a killed server may still hold its memory: most end by themselves
 * within moments; a child that was just beginning never does, and is ended here.
 */
async function startServer(
  installation: PostgresInstallation,
  data: string,
  options: PostgresOptions,
): Promise<RunningProgram> {
  const settings = {
    port: String(options.port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    logging_collector: 'off',
    ...options.settings,
  };
  const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const started = await poll(
    async () => {
      const before = readLog(options.logFile).length;
      const program = startProgram({
        name: 'PostgreSQL',
        file: join(installation.bin, 'postgres'),
        args,
        logFile: options.logFile,
        cwd: '/',
        // SIGINT is PostgreSQL's fast shutdown; SIGQUIT stops at once and recovers from its log on the next start.
        stopping: { signal: 'SIGINT', patienceMs: 20_000, lastSignal: 'SIGQUIT' },
        onStart: options.onStart,
        ...installation.account,
      });
      const ready = await poll(() => (hasEnded(program) ? false : isReady(data, program) ? true : undefined), 60_000);
      if (ready) return program;
      await program.stop();
      const said = readLog(options.logFile).slice(before);
      if (said.includes('shared memory block') && said.includes('still in use')) {
        endOrphans(data);
        return undefined;
      }
      const problem = `PostgreSQL did not start on port ${options.port}: ${lastLine(said)} (all of it in ${options.logFile})`;
      throw said.includes('Address already in use') ? new PortTaken(problem) : new StartupProblem(problem);
    },
    10_000,
    250,
  );
  if (!started)
    throw new StartupProblem(`Processes of a killed PostgreSQL still use ${data}: end them and start again.`);
  return started;
}

/**
 * Ends children of a killed server, known by the data as their working directory. The server that would have used what they do is gone,
 * and no other begins beside them. Reads /proc, so Linux only; elsewhere they are waited for.
 */
function endOrphans(data: string): void {
  const directory = realpathSync(data);
  for (const pid of existsSync('/proc') ? readdirSync('/proc').map(Number).filter(Boolean) : []) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) === directory) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
  }
}

/** The server writes `ready` to the eighth line of its pid file once it accepts connections. */
function isReady(data: string, program: RunningProgram): boolean {
  const lines = pidFileLines(data);
  return lines[0] === String(program.child.pid) && lines[7]?.trim() === 'ready';
}

/** Stops a PostgreSQL that a killed launcher left running on this data. */
export async function endFormerPostgres(directory: string): Promise<void> {
  const data = join(directory, 'data');
  if (!existsSync(data)) return;
  const pid = Number(pidFileLines(data)[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  if (isAlive(pid) && commandOf(pid).includes(realpathSync(data))) await endProcess(pid, 'SIGINT', 20_000);
  // Names no PostgreSQL of ours any more: the id may belong to somebody else's program by now.
  else rmSync(join(data, 'postmaster.pid'), { force: true });
}

function pidFileLines(data: string): string[] {
  const file = join(data, 'postmaster.pid');
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function readLog(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function lastLine(text: string): string {
  return (
    text
      .trim()
      .split('\n')
      .findLast((line) => line.includes('FATAL') || line.includes('error')) ??
    text.trim().split('\n').at(-1) ??
    ''
  );
}

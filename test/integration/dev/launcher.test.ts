import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningAddresses, readRunning } from '../../../dev/home.ts';
import { freePort } from '../../../dev/ports.ts';
import { endFormerPostgres } from '../../../dev/postgres.ts';
import { removeDirectory } from '../../../dev/postgres-account.ts';
import { isAlive, poll } from '../../../dev/processes.ts';

// As with `npm start` by root in a private directory: mkdtemp lets nobody else in.
const home = mkdtempSync(join(tmpdir(), 'launcher-'));
const startLimitMs = 60_000;
const launchers: Launched[] = [];
let port: number;
let metricsAddress: string;

beforeAll(async () => {
  port = await freePort();
  metricsAddress = `127.0.0.1:${await freePort()}`;
});

afterAll(async () => {
  for (const { child } of launchers) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  for (const pid of partPids()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await endFormerPostgres(join(home, 'postgres'));
  removeDirectory(join(home, 'postgres'));
  removeDirectory(home);
});

interface Launched {
  child: ChildProcess;
  output(): string;
  addresses: RunningAddresses;
}

async function launch(args: string[] = []): Promise<Launched> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../../dev/start.ts'), ...args], {
    env: { ...process.env, PERENNIAL_HOME: home, PORT: String(port), METRICS_ADDRESS: metricsAddress },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const launched = { child, output: () => output, addresses: undefined as unknown as RunningAddresses };
  launchers.push(launched);
  const ready = await poll(
    () => (child.exitCode !== null ? false : output.includes('Ctrl-C stops') || undefined),
    startLimitMs,
  );
  if (!ready) throw new Error(`not ready: ${output}`);
  launched.addresses = readRunning(home) as RunningAddresses;
  return launched;
}

/** Process ids of everything the launcher started. */
function partPids(): number[] {
  const files = ['api.pid', 'worker.pid', 'temporal.pid', 'postgres/data/postmaster.pid'];
  return files.flatMap((file) => {
    try {
      return [pidOf(file)];
    } catch {
      return [];
    }
  });
}

function pidOf(file: string): number {
  return Number(readFileSync(join(home, file), 'utf8').split('\n')[0]);
}

async function customerCount({ apiUrl, apiKey }: RunningAddresses): Promise<number> {
  const response = await fetch(`${apiUrl}/v1/customers`, { headers: { 'x-api-key': apiKey } });
  const { pagination } = (await response.json()) as { pagination: { total: number } };
  return pagination.total;
}

async function createCustomer({ apiUrl, apiKey }: RunningAddresses, externalId: string): Promise<number> {
  const response = await fetch(`${apiUrl}/v1/customers`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ external_id: externalId, name: externalId }),
  });
  return response.status;
}

async function endOf({ child }: Launched): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function allGone(pids: number[]): Promise<boolean> {
  return (await poll(() => (pids.some(isAlive) ? undefined : true), 15_000)) === true;
}

test('a worker serves its metrics, gives way to the API where cores are short, and every line of its log is JSON', {
  timeout: 180_000,
}, async () => {
  const launched = await launch();
  const metrics = await (await fetch(`http://${metricsAddress}/metrics`)).text();
  expect(metrics).toMatch(/^temporal_num_pollers\{.*task_queue="lifecycle"/m);
  expect(getPriority(pidOf('worker.pid'))).toBeGreaterThan(getPriority(pidOf('api.pid')));
  // Where Linux groups sessions, priorities within one say nothing to the others.
  const session = `/proc/${pidOf('worker.pid')}/autogroup`;
  if (existsSync(session)) expect(readFileSync(session, 'utf8')).toMatch(/ nice 5$/m);
  launched.child.kill('SIGINT');
  expect(await endOf(launched)).toBe(0);
  const lines = readFileSync(join(home, 'worker.log'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ level: 'info', process: 'worker', msg: 'worker started' }),
  );
});

test('Ctrl-C stops everything in order, and the next start continues with the same key and data', {
  timeout: 180_000,
}, async () => {
  const first = await launch();
  expect(first.output()).toContain(`API key        ${first.addresses.apiKey}`);
  expect(await createCustomer(first.addresses, 'acme')).toBe(201);
  const pids = partPids();
  expect(pids).toHaveLength(4);
  first.child.kill('SIGINT');
  expect(await endOf(first)).toBe(0);
  expect(await allGone(pids)).toBe(true);
  expect(readFileSync(join(home, 'postgres.log'), 'utf8')).toContain('database system is shut down');

  const second = await launch();
  expect(second.addresses.apiKey).toBe(first.addresses.apiKey);
  expect(await customerCount(second.addresses)).toBe(1);
  second.child.kill('SIGTERM');
  expect(await endOf(second)).toBe(0);
});

test('after kill -9 of the launcher, then of everything, the next start recovers', { timeout: 180_000 }, async () => {
  const first = await launch();
  expect(await createCustomer(first.addresses, 'globex')).toBe(201);
  first.child.kill('SIGKILL');
  await endOf(first);

  const second = await launch();
  expect(await customerCount(second.addresses)).toBe(2);
  for (const pid of [second.child.pid ?? 0, ...partPids()]) process.kill(pid, 'SIGKILL');
  await endOf(second);

  const third = await launch();
  expect(await customerCount(third.addresses)).toBe(2);
  third.child.kill('SIGINT');
  expect(await endOf(third)).toBe(0);
});

test('when one part ends, everything is stopped and the reason is said', { timeout: 180_000 }, async () => {
  const launched = await launch();
  const pids = partPids();
  process.kill(pidOf('worker.pid'), 'SIGKILL');
  expect(await endOf(launched)).toBe(1);
  expect(launched.output()).toContain('The worker process was ended by SIGKILL, so everything was stopped:');
  expect(await allGone(pids)).toBe(true);
});

test('--reset begins anew with another key', { timeout: 180_000 }, async () => {
  const before = JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8')) as { apiKey: string };
  const launched = await launch(['--reset']);
  expect(launched.addresses.apiKey).not.toBe(before.apiKey);
  expect(await customerCount(launched.addresses)).toBe(0);
  launched.child.kill('SIGINT');
  expect(await endOf(launched)).toBe(0);
});

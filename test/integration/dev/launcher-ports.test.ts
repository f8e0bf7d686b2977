import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, onFreePorts, PortTaken } from '../../../dev/ports.ts';
import { startPostgres } from '../../../dev/postgres.ts';
import { removeDirectory } from '../../../dev/postgres-account.ts';
import { temporalCli } from '../../../dev/temporal-binary.ts';
import { startTemporal } from '../../../dev/temporal-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'launcher-ports-'));
chmodSync(directory, 0o711);
// What took the port accepts connections, as the server of another launcher would.
const other = createServer((socket) => socket.destroy());
let taken: number;

beforeAll(async () => {
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  taken = (other.address() as { port: number }).port;
});
afterAll(() => {
  other.close();
  removeDirectory(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
});

const start = (port: number) =>
  startPostgres({
    directory: join(directory, 'postgres'),
    port,
    password: 'test',
    logFile: join(directory, 'postgres.log'),
  });

/** True of a process that has not ended; an ended one stays listed until its parent has read how it ended. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('PostgreSQL whose port was taken starts on another', { timeout: 90_000 }, async () => {
  await expect(start(taken)).rejects.toThrow(PortTaken);
  const { server, ports } = await onFreePorts({ postgres: taken }, ({ postgres }) => start(postgres));
  await server.stop();
  expect(server.port).toBe(ports.postgres);
  expect(server.port).not.toBe(taken);
});

test.runIf(existsSync('/proc'))(
  'a backend of a killed PostgreSQL that never ends keeps no next one from starting',
  {
    timeout: 90_000,
  },
  async () => {
    const killed = await start(await freePort());
    const client = new pg.Client({ connectionString: killed.url('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = rows[0]?.pid ?? 0;
    process.kill(backend, 'SIGSTOP');
    killed.program.child.kill('SIGKILL');
    await killed.program.ended;
    expect(isRunning(backend)).toBe(true);
    const next = await start(await freePort());
    await expect.poll(() => isRunning(backend)).toBe(false);
    await next.stop();
  },
);

test('Temporal does not take the server of another for itself', { timeout: 60_000 }, async () => {
  const cli = await temporalCli(() => undefined);
  const files = { logFile: join(directory, 'temporal.log'), pidFile: join(directory, 'temporal.pid') };
  await expect(startTemporal({ cli, port: taken, ...files })).rejects.toThrow(PortTaken);
  await expect(startTemporal({ cli, port: await freePort(), uiPort: taken, ...files })).rejects.toThrow(PortTaken);
  const server = await startTemporal({ cli, port: await freePort(), ...files });
  await server.stop();
});

import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accepts, freePort, isPortFree, onFreePorts, PortTaken, portsBeside } from '../../../dev/ports.ts';
import { endFormerProgram, hasEnded, isAlive, poll, startProgram } from '../../../dev/processes.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'launcher-processes-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function start(script: string, more: Partial<Parameters<typeof startProgram>[0]> = {}) {
  const logFile = join(directory, 'log');
  return startProgram({ name: 'script', file: '/bin/sh', args: ['-c', script], logFile, ...more });
}

test('a program gets its own process group, so that Ctrl-C in the terminal does not reach it', async () => {
  const program = start('ps -o pgid= -p $$; exec sleep 60');
  const group = await poll(() => readFileSync(program.logFile, 'utf8').trim() || undefined, 5_000);
  expect(group).toBe(String(program.child.pid));
  await program.stop();
});

test('a program that ignores the request is made to stop', async () => {
  const program = start('trap "" TERM; echo ready; while :; do sleep 0.05; done', {
    stopping: { signal: 'SIGTERM', patienceMs: 100, lastSignal: 'SIGKILL' },
  });
  await poll(() => readFileSync(program.logFile, 'utf8').includes('ready') || undefined, 5_000);
  await program.stop();
  expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a program that does not exist has ended, and stopping it is nothing', async () => {
  const program = startProgram({ name: 'none', file: '/no/such/program', args: [], logFile: join(directory, 'log') });
  expect(hasEnded(program)).toBe(true);
  await program.stop();
  expect((await program.ended).code).toBe(127);
});

test('what a killed launcher left running is ended by the next', async () => {
  const pidFile = join(directory, 'pid');
  const program = start('exec sleep 60', { pidFile, file: '/bin/sleep', args: ['60'] });
  await endFormerProgram(pidFile, 'SIGTERM');
  expect((await program.ended).signal).toBe('SIGTERM');
  expect(existsSync(pidFile)).toBe(false);
});

test('a foreign program that has the recorded id now is left alone', async () => {
  const pidFile = join(directory, 'pid');
  const program = start('exec sleep 60');
  writeFileSync(pidFile, `${program.child.pid}\n/somewhere/temporal server start-dev\n`);
  await endFormerProgram(pidFile, 'SIGTERM');
  expect(isAlive(program.child.pid ?? 0)).toBe(true);
  await program.stop();
});

test('a port in use is not chosen', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect(await isPortFree(port)).toBe(false);
  expect(await accepts(port)).toBe(true);
  expect(await freePort(port)).not.toBe(port);
  server.close();
  await once(server, 'close');
  expect(await freePort(port)).toBe(port);
});

test('a port that somebody takes between looking and listening is given up for another', async () => {
  const tried: number[] = [];
  const start = (takenTimes: number) => async (ports: { one: number }) => {
    tried.push(ports.one);
    if (tried.length <= takenTimes) throw new PortTaken('taken');
    return 'server';
  };
  const { server, ports } = await onFreePorts({ one: 5480 }, start(2));
  expect(server).toBe('server');
  expect(tried).toEqual([5480, expect.any(Number), ports.one]);
  expect(tried).not.toContain(0);

  tried.length = 0;
  await expect(onFreePorts({ one: 5480 }, start(9))).rejects.toThrow('taken');
  expect(tried).toHaveLength(4);
});

test('what is no matter of ports is not tried again', async () => {
  let tries = 0;
  const start = async () => {
    tries += 1;
    throw new Error('broken');
  };
  await expect(onFreePorts({ one: 5480 }, start)).rejects.toThrow('broken');
  expect(tries).toBe(1);
});

test('PORT moves the ports of all servers together', () => {
  expect(portsBeside(8080)).toEqual({ postgres: 5480, temporal: 7280, temporalUi: 8280 });
  expect(portsBeside(8400)).toEqual({ postgres: 5800, temporal: 7600, temporalUi: 8600 });
  expect(portsBeside(3000)).toEqual({ postgres: 0, temporal: 2200, temporalUi: 3200 });
  expect(portsBeside(65_500)).toMatchObject({ temporalUi: 0 });
});

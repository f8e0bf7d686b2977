import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  closeHome,
  type HomeSettings,
  openHome,
  readRunning,
  readSettings,
  resetHome,
  writeRunning,
  writeSettings,
} from '../../../dev/home.ts';
import { commandOf } from '../../../dev/processes.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'launcher-home-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a directory that cannot be made is refused with the way out', () => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => openHome(join(directory, 'file/home'))).toThrow(
    /^The directory .*\/file\/home is not writable \(ENOTDIR\): make it writable, or set PERENNIAL_HOME to a directory that is\.$/,
  );
});

test('a second launcher on the same directory is refused and named', async () => {
  const other = spawn('sleep', ['60']);
  await once(other, 'spawn');
  writeFileSync(join(directory, 'launcher.pid'), `${other.pid}\n${commandOf(other.pid ?? 0)}\n`);
  expect(() => openHome(directory)).toThrow(`already runs on ${directory} as process ${other.pid}`);
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(() => openHome(directory)).not.toThrow();
});

test('the id of a killed launcher that another program has now is no obstacle', async () => {
  const other = spawn('sleep', ['60']);
  await once(other, 'spawn');
  writeFileSync(join(directory, 'launcher.pid'), `${other.pid}\nnode dev/start.ts\n`);
  expect(() => openHome(directory)).not.toThrow();
  other.kill('SIGKILL');
});

test('settings are made once, keep the API key, and only their owner may read them', () => {
  const first = readSettings(directory);
  expect(first.apiKey).toMatch(/^sk_[\w-]{43}$/);
  expect(first.secretEncryptionKey).toMatch(/^start:[0-9a-f]{64}$/);
  expect(readSettings(directory)).toEqual(first);
  expect(statSync(join(directory, 'settings.json')).mode & 0o777).toBe(0o600);
});

test('a home of an older version gets the keys it lacks, once, and keeps what it has', () => {
  const { secretEncryptionKey, ...older } = readSettings(directory);
  writeSettings(directory, older as HomeSettings);
  const renewed = readSettings(directory);
  expect(renewed).toMatchObject(older);
  expect(renewed.secretEncryptionKey).not.toBe(secretEncryptionKey);
  expect(readSettings(directory)).toEqual(renewed);
});

test('a reset forgets everything but the hold on the directory', () => {
  openHome(directory);
  const { apiKey } = readSettings(directory);
  resetHome(directory);
  expect(readFileSync(join(directory, 'launcher.pid'), 'utf8')).toContain(String(process.pid));
  expect(readSettings(directory).apiKey).not.toBe(apiKey);
});

test('addresses of a launcher that ended are not found', () => {
  const addresses = { apiUrl: 'u', apiKey: 'k', databaseUrl: 'd', databaseOwnerUrl: 'o', temporalAddress: 't' };
  openHome(directory);
  writeRunning(directory, addresses);
  closeHome(directory);
  expect(readRunning(directory)).toBeUndefined();
});

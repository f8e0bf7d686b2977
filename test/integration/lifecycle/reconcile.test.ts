import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { closeHome, openHome, writeRunning } from '../../../dev/home.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const home = mkdtempSync(join(tmpdir(), 'reconcile-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs `npm run reconcile` without its environment's DATABASE_URL and TEMPORAL_ADDRESS. */
async function reconcile(env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../../dev/reconcile.ts')], {
    env: { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '', PERENNIAL_HOME: home, ...env },
    timeout: 30_000,
  });
  const said = { output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: said.output.trim(), errors: said.errors.trim() };
}

test('it finds what npm start runs here', async () => {
  openHome(home);
  const { applicationUrl: databaseUrl, ownerUrl: databaseOwnerUrl } = base;
  const temporalAddress = temporal.address;
  writeRunning(home, {
    apiUrl: 'http://127.0.0.1:1',
    apiKey: 'sk_none',
    databaseUrl,
    databaseOwnerUrl,
    temporalAddress,
  });
  const found = await reconcile({ TEMPORAL_NAMESPACE: temporal.namespace });
  closeHome(home);
  expect(found).toEqual({ code: 0, output: '0 live objects, 0 workflows started', errors: '' });
});

test('DATABASE_URL and TEMPORAL_ADDRESS name another installation', async () => {
  const named = { DATABASE_URL: base.applicationUrl, TEMPORAL_ADDRESS: temporal.address };
  expect(await reconcile({ ...named, TEMPORAL_NAMESPACE: temporal.namespace })).toMatchObject({ code: 0, errors: '' });
});

test('where nothing runs, or Temporal does not answer, it says so in one sentence', async () => {
  const nothing = 'There is nothing to reconcile: start Perennial with npm start, or set DATABASE_URL.';
  expect(await reconcile()).toEqual({ code: 1, output: '', errors: nothing });
  const alone = await reconcile({ DATABASE_URL: base.applicationUrl, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  const silent = 'Temporal does not answer on 127.0.0.1:1: start it, or set TEMPORAL_ADDRESS.';
  expect(alone).toEqual({ code: 1, output: '', errors: silent });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { apiTarget } from '../../../dev/target.ts';

const directory = mkdtempSync(join(tmpdir(), 'launcher-start-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the entry file of `npm start` to its end. */
async function start(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; errors: string }> {
  const file = join(import.meta.dirname, '../../../dev/start.ts');
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, PERENNIAL_HOME: directory, ...env },
    timeout: 100_000,
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, errors: errors.trim() };
}

test('a port in use is one sentence, and nothing is started', { timeout: 120_000 }, async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, errors } = await start([], { PORT: String(port) });
  other.close();
  expect(errors).toBe(
    `Port ${port} is in use by another program: stop that program, or choose another port with PORT=${port + 10} npm start.`,
  );
  expect(code).toBe(1);
  expect(existsSync(join(directory, 'postgres'))).toBe(false);
});

test('an unwritable directory is one sentence', { timeout: 120_000 }, async () => {
  const { code, errors } = await start([], { PERENNIAL_HOME: '/proc/perennial' });
  expect(errors).toMatch(
    /^The directory \/proc\/perennial is not writable \(\w+\): make it writable, or set PERENNIAL_HOME/,
  );
  expect(code).toBe(1);
});

test('an unknown option and a port that is none are refused', { timeout: 120_000 }, async () => {
  const [option, port] = await Promise.all([start(['--rest'], {}), start([], { PORT: 'http' })]);
  expect(option).toEqual({
    code: 2,
    errors: 'There is no option --rest: use npm start, or npm start -- --reset to begin anew.',
  });
  expect(port).toEqual({ code: 2, errors: 'PORT is http: give a port between 1 and 65535.' });
});

test('the demo finds the API by its environment', () => {
  const env = { PERENNIAL_URL: 'http://127.0.0.1:8080/v1/', PERENNIAL_API_KEY: 'sk_x' };
  expect(apiTarget(env)).toEqual({ apiUrl: 'http://127.0.0.1:8080', apiKey: 'sk_x' });
  expect(() => apiTarget({ PERENNIAL_URL: 'http://127.0.0.1:8080' })).toThrow('PERENNIAL_API_KEY is not set');
  expect(() => apiTarget({ PERENNIAL_HOME: directory })).toThrow(
    'Perennial does not run here: start it with npm start',
  );
});

/** Runs an entry file that cannot start to its end. */
async function failing(entry: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; errors: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../..', entry)], {
    env: { PATH: process.env.PATH, HOME: directory, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, errors: errors.trim() };
}

test.each(['api/server.ts', 'worker.ts'])(
  '%s refuses an environment that it cannot use with one sentence',
  { timeout: 120_000 },
  async (entry) => {
    expect(await failing(entry, { PORT: 'http' })).toEqual({
      code: 1,
      errors: 'The configuration is not usable. DATABASE_URL: is required; PORT: must be a number.',
    });
  },
);

test.each(['api/server.ts', 'worker.ts'])(
  '%s says in one sentence that its database does not answer',
  { timeout: 120_000 },
  async (entry) => {
    const env = { DATABASE_URL: 'postgresql://app:secret@127.0.0.1:1/perennial' };
    expect(await failing(entry, env)).toEqual({
      code: 1,
      errors: 'The database of DATABASE_URL does not answer: connect ECONNREFUSED 127.0.0.1:1',
    });
  },
);

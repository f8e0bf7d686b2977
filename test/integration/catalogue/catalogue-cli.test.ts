import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';

const base = await testDatabase();
const { app } = await testApp(base);
const apiUrl = await app.listen({ port: 0, host: '127.0.0.1' });
const directory = mkdtempSync(join(tmpdir(), 'catalogue-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'catalogue.yaml');

async function perennial(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../../cli/perennial.ts'), 'catalogue', ...args],
    {
      env: { ...process.env, PERENNIAL_API_URL: apiUrl, PERENNIAL_API_KEY: base.apiKey, NO_COLOR: '1', ...env },
      timeout: 30_000,
    },
  );
  const said = { output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

const text = `plans:
  - key: pro
    name: Pro
    prices:
      - key: pro-seats
        type: FIXED
        billing_model: FLAT_FEE
        billing_period: MONTHLY
        invoice_cadence: ADVANCE
        currency: usd
        amount: 30.00
`;

test('a file is compared, pushed and pulled', async () => {
  writeFileSync(file, text);
  const before = await perennial(['diff', file, '--exit-code']);
  expect(before).toMatchObject({ code: 2, errors: '' });
  expect(before.output).toContain('+ plan pro\n      name: Pro\n');
  expect(before.output).toContain('      amount: 30\n');
  expect(before.output).toContain('2 to create, 0 to change, 0 to remove\n');
  expect((await perennial(['push', file])).output).toBe(before.output);
  expect(await perennial(['push', file])).toEqual({ code: 0, output: 'Nothing differs.\n', errors: '' });

  const pulled = join(directory, 'pulled.yaml');
  expect(await perennial(['pull', pulled])).toEqual({ code: 0, output: '', errors: '' });
  expect(readFileSync(pulled, 'utf8')).toContain('key: pro-seats');
  expect((await perennial(['pull'])).output).toBe(readFileSync(pulled, 'utf8'));
  expect((await perennial(['diff', pulled, '--prune', '--exit-code'])).code).toBe(0);

  writeFileSync(file, text.replace('30.00', '35.00'));
  const dearer = await perennial(['diff', file, '--color']);
  expect(dearer.output).toContain('\u001b[33m~ plan pro / price pro-seats (a new price follows it)\u001b[39m\n');
  expect(dearer.output).toContain('      amount: 30 → 35\n');
});

test('a bad file is told line by line, and nothing is written', async () => {
  writeFileSync(file, text.replace('30.00', 'much').replace('FLAT_FEE', 'FLAT').replace('usd', 'dollars'));
  const { code, errors } = await perennial(['push', file]);
  expect(code).toBe(1);
  const lines = errors.trimEnd().split('\n');
  expect(lines[0]).toMatch(new RegExp(`^${file}:7: plans\\[0\\]\\.prices\\[0\\]\\.billing_model `));
  expect(lines[1]).toMatch(new RegExp(`^${file}:10: plans\\[0\\]\\.prices\\[0\\]\\.currency `));
  expect(lines[2]).toMatch(new RegExp(`^${file}:11: plans\\[0\\]\\.prices\\[0\\]\\.amount `));
  expect(lines[3]).toBe('3 problems; nothing was written.');

  writeFileSync(file, text.replace('name: Pro', 'name: [Pro'));
  expect((await perennial(['diff', file])).errors).toContain(`${file}:`);
  expect((await perennial(['diff', join(directory, 'none.yaml')])).errors).toContain('cannot be read');
});

test('a key and an API that answers are needed', async () => {
  expect((await perennial(['pull'], { PERENNIAL_API_KEY: '' })).errors).toContain('PERENNIAL_API_KEY');
  expect((await perennial(['pull'], { PERENNIAL_API_KEY: 'sk_wrong' })).errors).toContain('401');
  expect((await perennial(['pull', '--api-url', 'http://127.0.0.1:1'])).errors).toContain('No API answers');
});

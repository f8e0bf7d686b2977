import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { testPlatform } from '../../support/billing.ts';

const { app, base } = await testPlatform();
const address = await app.listen({ port: 0, host: '127.0.0.1' });
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

/** The blocks of a language under a heading, as somebody pastes or reads them. */
function blocksOf(heading: string, language: string): string[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/```(\w+)\n(.*?)```/gs)]
    .filter(([, kind]) => kind === language)
    .map((match) => match[2] ?? '');
}

const heading = 'A first invoice';
const pasted = blocksOf(heading, 'sh').join('\n');
const script = pasted
  .replace("URL='http://127.0.0.1:8080'", `URL='${address}'`)
  .replace("KEY='sk_…'", `KEY='${base.apiKey}'`);
/** Runs a script without the settings of the machine's shells, which bash reads when no shell started npm. */
const run = (text: string) => promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', text]);

test('the first invoice of the README comes out as it is printed there', async () => {
  expect(script).toContain(address);
  expect(script).toContain(base.apiKey);
  const { stdout, stderr } = await run(script);
  expect(stderr).toBe('');
  const printed = blocksOf(heading, 'text').flatMap((block) => block.trim().split('\n'));
  expect(printed.length).toBeGreaterThan(5);
  for (const line of printed) for (const part of line.split('…')) expect(stdout).toContain(part);
});

test('a refused call says why, and what needs its answer is not sent', async () => {
  const [functions = ''] = blocksOf(heading, 'sh');
  const asked = `${script.slice(0, functions.length + address.length + base.apiKey.length)}`;
  const own = asked.slice(0, asked.indexOf('PLAN='));
  const refused = await run(`${own}\nPLAN=$(api POST /plans '{}' | field id)\necho went on`).catch((error) => error);
  expect(refused).toMatchObject({ code: expect.any(Number), stdout: '' });
  expect(refused.stderr).toContain('name is required');
  // Pasted by hand nothing ends the shell: the empty id does.
  const guarded = await run(`set +e +o pipefail\n${own}\nPLAN=\napi GET "/plans/\${PLAN:?}"`).catch((error) => error);
  expect(guarded).toMatchObject({ stdout: '', stderr: expect.stringMatching(/PLAN: parameter null or not set/) });
});

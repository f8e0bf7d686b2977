import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { testPlatform } from '../support/billing.ts';

const { app, base } = await testPlatform();
const address = await app.listen({ port: 0, host: '127.0.0.1' });
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The shell blocks under a heading, as somebody pastes them. */
function shellBlocks(heading: string): string {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1]).join('\n');
}

test('the first invoice of the README comes out as it is printed there', async () => {
  const blocks = shellBlocks('A first invoice');
  const script = blocks.replace('URL=http://127.0.0.1:8080 KEY=sk_…', `URL=${address} KEY=${base.apiKey}`);
  expect(script).not.toBe(blocks);

  const { stdout, stderr } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script]);

  expect(stderr).toBe('');
  // What the README says after `# ` is what is printed; an id stands there as three dots.
  const printed = [...blocks.matchAll(/^# (.*)$/gm)].map((match) => match[1] ?? '');
  expect(printed.length).toBeGreaterThan(5);
  for (const line of printed) for (const part of line.split('…')) expect(stdout).toContain(part);
});

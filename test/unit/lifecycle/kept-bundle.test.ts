import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepBundle, keptBundle } from '../../../activities/kept-bundle.ts';
import { bundleWorkflows } from '../../../activities/workflow-bundle.ts';
import { workflowEntry } from '../../../activities/workflow-entry.ts';

const directory = mkdtempSync(join(tmpdir(), 'kept-bundle-'));
afterAll(() => rmSync(directory, { recursive: true }));

const beganMs = Date.now() + 60_000;
let entries = 0;

/** A bundle of two sources that is kept. */
function kept() {
  entries += 1;
  const entry = `entry ${entries}`;
  const sources = ['first', 'second'].map((name) => join(directory, `${name}-${entries}.ts`));
  for (const source of sources) writeFileSync(source, 'export const rate = 1;');
  const keep = (began = beganMs) => keepBundle(entry, { sources, code: 'the bundle', beganMs: began }, directory);
  keep();
  return { entry, keep, first: sources[0]!, take: () => keptBundle(entry, directory) };
}

test('a bundle is taken again as long as its sources stay what they are', () => {
  const { entry, first, take } = kept();
  expect(take()).toBe('the bundle');
  utimesSync(first, new Date(), new Date());
  expect(take()).toBe('the bundle');
  expect(keptBundle(`${entry} and another`, directory)).toBeNull();
});

test('a bundle is made anew when a source changed or is gone', () => {
  const { first, take, keep } = kept();
  writeFileSync(first, 'export const rate = 2;');
  expect(take()).toBeNull();
  keep();
  expect(take()).toBe('the bundle');
  rmSync(first);
  expect(take()).toBeNull();
});

test('a bundle is not kept when a source changed while it was made', () => {
  const { first, take, keep } = kept();
  writeFileSync(first, 'export const rate = 2;');
  keep(0);
  expect(take()).toBeNull();
});

test('where no bundle can be written, none is kept and nothing fails', () => {
  const blocked = join(directory, 'a-file');
  writeFileSync(blocked, '');
  keepBundle('entry', { sources: [], code: 'the bundle', beganMs }, blocked);
  expect(keptBundle('entry', blocked)).toBeNull();
});

test('the workflows of the product are bundled once, of all they are made of', async () => {
  const { code } = await bundleWorkflows();
  expect(code).toContain('autoTopUp');
  expect(keptBundle(workflowEntry())).toBe(code);
  expect((await bundleWorkflows()).code).toBe(code);
});

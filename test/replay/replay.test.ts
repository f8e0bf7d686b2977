import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, describe, expect, test } from 'vitest';
import { bundleWorkflows } from '../../activities/workers.ts';
import { payloadsOf, type RecordedHistory, recordedHistories, shapeOf } from './history.ts';
import { personal } from './personal.ts';

// A replay that fails is what the mutant is for; its warnings are no news.
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), telemetryOptions: { logging: { filter: 'off' } } });

const root = join(import.meta.dirname, '../..');
const workflows = join(root, 'workflows');
const histories = recordedHistories();
const { code } = await bundleWorkflows();

/** Replays histories on a bundle and returns the error of each, by file name; none when it replays as it ran. */
async function replay(bundle: string, files: ReadonlyMap<string, RecordedHistory>): Promise<Map<string, Error>> {
  const errors = new Map<string, Error>();
  const waiting = [...files].map(([workflowId, history]) => ({ workflowId, history }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code: bundle } }, waiting)) {
    if (error) errors.set(workflowId, error);
  }
  return errors;
}

describe('recorded histories', () => {
  test('replay on the workflows of today', async () => {
    expect(histories.size).toBeGreaterThan(20);
    expect([...(await replay(code, histories))].map(([file, error]) => `${file}: ${error.message}`)).toEqual([]);
  });

  // What the workflows can do, as their sources name it: a branch nobody recorded is not proved.
  const sources = readdirSync(workflows).map((file) => readFileSync(join(workflows, file), 'utf8'));
  const namesOf = (pattern: RegExp) =>
    sources.flatMap((source) => Array.from(source.matchAll(pattern), (match) => match[1]));
  const branches = new Set([
    ...namesOf(/\b(?:local|external|step|gateway)\.(\w+)\(/g),
    ...namesOf(/define(?:Update|Signal)[^(]*\('(\w+)'\)/g),
    ...['EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW', 'EVENT_TYPE_TIMER_STARTED', 'EVENT_TYPE_TIMER_FIRED'],
  ]);
  const shapes = [...histories.values()].map(shapeOf).join('\n');
  test.each([...branches])('show %s', (branch) => {
    expect(new RegExp(`\\b${branch}\\b`).test(shapes)).toBe(true);
  });

  test('show a refused command', () => {
    const failed = [...histories.values()].filter((history) => JSON.stringify(history).includes('"not_found"'));
    expect(failed.length).toBeGreaterThan(0);
  });

  test('hold ids only: no name, mail or amount', () => {
    const found = [...histories].flatMap(([file, history]) => {
      const texts = [JSON.stringify(history), ...payloadsOf(history)];
      return Object.values(personal)
        .filter((secret) => texts.some((text) => text.includes(secret)))
        .map((secret) => `${file}: ${secret}`);
    });
    expect(found).toEqual([]);
    const amounts = /"(amount|total|amount_?due|amount_?remaining|subtotal|email|name|card_?number)":/i;
    const named = [...histories].filter(([, history]) => payloadsOf(history).some((text) => amounts.test(text)));
    expect(named.map(([file]) => file)).toEqual([]);
  });

  test('are small', () => {
    const sizes = [...histories.values()].map((history) => JSON.stringify(history).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1.5 * 1024 * 1024);
  });
});

describe('a changed workflow', () => {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-mutant-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test('with its commands in another order fails to replay what it did before', async () => {
    for (const folder of ['workflows', 'billing'])
      cpSync(join(root, folder), join(directory, folder), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    exchangeLines(join(directory, 'workflows/subscription.ts'), '.attendInvoice(', 'await followInvoice(');
    const mutant = await bundleWorkflowCode({
      workflowsPath: join(directory, 'workflows/index.ts'),
      ignoreModules: ['node:crypto'],
      logger: new DefaultLogger('ERROR'),
    });

    const errors = await replay(mutant.code, histories);

    const affected = [...histories].filter(([, history]) => shapeOf(history).includes('attendInvoice'));
    expect(affected.length).toBeGreaterThan(0);
    expect([...errors.keys()]).toEqual(affected.map(([file]) => file));
    expect(new Set([...errors.values()].map((error) => error.name))).toEqual(new Set(['DeterminismViolationError']));
  });
});

/** Exchanges two neighbouring lines of a file; it is an error when they are not neighbours. */
function exchangeLines(file: string, first: string, second: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const index = lines.findIndex((line, at) => line.includes(first) && lines[at + 1]?.includes(second));
  if (index < 0) throw new Error(`${file} has no line with ${first} followed by one with ${second}`);
  lines.splice(index, 2, lines[index + 1] ?? '', lines[index] ?? '');
  writeFileSync(file, lines.join('\n'));
}

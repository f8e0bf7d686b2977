import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, describe, expect, test } from 'vitest';
import { bundleWorkflows } from '../../activities/workflow-bundle.ts';
import { workflowEntry } from '../../activities/workflow-entry.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { payloadsOf, recordedHistories, shapeOf } from './history.ts';
import { personal } from './personal.ts';

// A replay that fails is what the mutant is for; its warnings are no news.
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), telemetryOptions: { logging: { filter: 'off' } } });

const root = join(import.meta.dirname, '../..');
const workflows = join(root, 'workflows');
const histories = recordedHistories();
const { code } = await bundleWorkflows();

/** Replays histories on a bundle until one does not replay as it ran, and says which. */
async function firstFailure(bundle: string): Promise<string | null> {
  const waiting = [...histories].map(([workflowId, history]) => ({ workflowId, history }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code: bundle } }, waiting)) {
    if (error) return `${workflowId}: ${error.message}`;
  }
  return null;
}

describe('recorded histories', () => {
  test('replay on the workflows of today', async () => {
    expect(histories.size).toBeGreaterThan(20);
    expect(await firstFailure(code)).toBeNull();
  });

  // What the workflows can do, as their sources name it: a branch nobody recorded is not proved.
  const sources = readdirSync(workflows, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(workflows, file), 'utf8'));
  const namesOf = (pattern: RegExp) =>
    sources.flatMap((source) => Array.from(source.matchAll(pattern), (match) => match[1]));
  const branches = new Set([
    ...namesOf(/\b(?:local|external|step|gateway)\.(\w+)\(/g),
    ...namesOf(/define(?:Command|Update|Signal)[^(]*\('(\w+)'\)/g),
    ...['EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW', 'EVENT_TYPE_TIMER_STARTED', 'EVENT_TYPE_TIMER_FIRED'],
  ]);
  const shapes = [...histories.values()].map(shapeOf).join('\n');
  test.each([...branches])('show %s', (branch) => {
    expect(new RegExp(`\\b${branch}\\b`).test(shapes)).toBe(true);
  });

  test.each(Object.values(lifecycleKinds))(
    'show the life of each kind: $workflowType',
    ({ workflowType, load, agenda }) => {
      const lives = [...histories]
        .filter(([file]) => file.split('.')[1] === workflowType)
        .map(([, history]) => history);
      expect(lives.map(shapeOf).join(' ')).toMatch(new RegExp(`\\b${load}\\b`));
      const told = lives.flatMap(payloadsOf).join(' ');
      expect(agenda.some((entry) => told.includes(`"${entry}"`))).toBe(true);
    },
  );

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
    expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(16 * 1024);
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024);
  });
});

describe('a changed workflow', () => {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-mutant-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test('with its commands in another order fails to replay what it did before', async () => {
    for (const folder of ['workflows', 'billing', 'lifecycles'])
      cpSync(join(root, folder), join(directory, folder), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    exchangeLines(join(directory, 'workflows/collection.ts'), 'await local.attendPayment(', 'await followPayment(');
    const workflowsPath = join(directory, 'entry.js');
    writeFileSync(workflowsPath, workflowEntry({ root: directory }));
    const mutant = await bundleWorkflowCode({
      workflowsPath,
      ignoreModules: ['node:crypto'],
      logger: new DefaultLogger('ERROR'),
    });

    const affected = [...histories.values()].filter((history) => shapeOf(history).includes('attendPayment'));
    expect(affected.length).toBeGreaterThan(0);
    // A replay that failed leaves its worker in no state for another, so each has its own.
    for (const history of affected.slice(0, 3)) {
      await expect(Worker.runReplayHistory({ workflowBundle: mutant }, history)).rejects.toThrow(
        DeterminismViolationError,
      );
    }
  });
});

/** Exchanges two neighbouring lines of a file; it is an error when they are not neighbours. */
function exchangeLines(file: string, one: string, other: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const has = (at: number, text: string) => lines[at]?.includes(text) === true;
  const index = lines.findIndex(
    (_, at) => (has(at, one) && has(at + 1, other)) || (has(at, other) && has(at + 1, one)),
  );
  if (index < 0) throw new Error(`${file} has no neighbouring lines with ${one} and ${other}`);
  lines.splice(index, 2, lines[index + 1] ?? '', lines[index] ?? '');
  writeFileSync(file, lines.join('\n'));
}

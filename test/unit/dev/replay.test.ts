import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const recorded = join(root, 'test/replay/histories/cancelled-at-period-end.subscription.1.json');
const directory = mkdtempSync(join(tmpdir(), 'perennial-replay-'));
afterAll(() => rmSync(directory, { recursive: true }));

function replay(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  // An installation that runs beside this test is not asked.
  const env = { ...process.env, PERENNIAL_HOME: directory, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  return spawnSync(process.execPath, [join(root, 'dev/replay.ts'), ...args], { encoding: 'utf8', env });
}

test('a history replays on the workflows of today', () => {
  expect(replay(recorded)).toMatchObject({ status: 0, stdout: `${recorded} replays: 12 events\n` });
});

test('a history of something else does not replay, and it is said where', () => {
  const changed = join(directory, 'changed.json');
  writeFileSync(
    changed,
    readFileSync(recorded, 'utf8').replaceAll('EVENT_TYPE_MARKER_RECORDED', 'EVENT_TYPE_TIMER_STARTED'),
  );
  const { status, stderr } = replay(changed);
  expect(status).toBe(1);
  expect(stderr).toContain('does not replay: ');
});

test('what is no history, and an installation that does not answer, is said in a sentence', () => {
  const none = join(directory, 'none.json');
  writeFileSync(none, '{"history": {}}');
  expect(replay(none)).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no history') });
  expect(replay()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^usage: npm run replay/) });
  const absent = replay('subscription/subs_1');
  expect(absent).toMatchObject({ status: 1, stderr: expect.stringContaining('Temporal does not answer') });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { converse } from '../../receivers/conversation.ts';
import { startReceiver } from '../../receivers/receiver.ts';

const directory = mkdtempSync(join(tmpdir(), 'perennial-receiver-'));
const receiver = await startReceiver('js', directory);

afterAll(async () => {
  await receiver.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('the receiver of the page verifies, knows what it has, and sees what is missing', async () => {
  const results = await converse(receiver);
  expect(results.length).toBeGreaterThan(0);
  expect(results.filter(({ problem }) => problem !== '')).toEqual([]);
});

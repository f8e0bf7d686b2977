import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Lines of tracked files that match, as `file: line`. */
function linesOf(paths: string[], pattern: RegExp): string[] {
  const files = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  return files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => pattern.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

const readsClock = /\bDate\.now\(\)|\bnew Date\(\)|\bTemporal\.Now\b|performance\.now\(\)/;

test('billing decisions read no clock: the present is an argument', () => {
  expect(linesOf(['billing/*.ts'], readsClock)).toEqual([]);
});

test('workflows read the present in one place only', () => {
  expect(linesOf(['workflows/*.ts', ':!workflows/clock.ts'], readsClock)).toEqual([]);
});

// A lease is held against other machines, whose clocks may differ, so it runs by the one clock they share: the database's.
const leases = 'services/event/webhook/lease.ts';

test('statements of the stores take the present from their caller', () => {
  expect(linesOf(['services/*.ts', `:!${leases}`], /\bcurrent_timestamp\b|\bclock_timestamp\(|[^.\w]now\(\)/)).toEqual(
    [],
  );
});

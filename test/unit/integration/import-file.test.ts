import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type FileRecord, type ImportFileType, readRecords } from '../../../integrations/import-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'perennial-import-file-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function recordsOf(content: string, type: ImportFileType = 'JSON'): Promise<FileRecord[]> {
  const path = join(directory, 'file');
  writeFileSync(path, content);
  const records: FileRecord[] = [];
  for await (const block of readRecords({ path, type, bytes: Buffer.byteLength(content) })) records.push(...block);
  return records;
}

test('lines end with LF or CRLF, the last one with or without, and blank ones count as lines only', async () => {
  for (const [end, last] of [
    ['\n', ''],
    ['\r\n', '\r\n'],
    ['\n', '\n \n'],
  ] as const) {
    expect(await recordsOf(`\uFEFF{"a":1}${end}${end}  {"a":2}${end}{"a"${end}{"a":"\u2028"}${last}`)).toEqual([
      { number: 1, line: 1, values: { a: 1 } },
      { number: 2, line: 3, values: { a: 2 } },
      { number: 3, line: 4, problem: 'it is not valid JSON' },
      { number: 4, line: 5, values: { a: '\u2028' } },
    ]);
  }
  expect(await recordsOf('')).toEqual([]);
});

test('lines and characters may lie across the blocks a file is read in', async () => {
  const texts = Array.from({ length: 3_000 }, (_, n) => 'é€😀'.repeat(1 + (n % 90)));
  const long = 'x'.repeat(400_000);
  const lines = [...texts, long, ...texts];
  expect(await recordsOf(lines.map((a) => JSON.stringify({ a })).join('\n'))).toEqual(
    lines.map((a, index) => ({ number: index + 1, line: index + 1, values: { a } })),
  );
});

test('a line longer than 32 MiB ends the file', async () => {
  const content = `{"a":1}\n{"a":"${'x'.repeat(33 * 1024 * 1024)}"}`;
  await expect(recordsOf(content)).rejects.toThrow('line 2 has more than 33554432 characters');
});

test('every record of a CSV file and of an array comes, in order', async () => {
  const numbers = Array.from({ length: 1_234 }, (_, index) => index + 1);
  const csv = await recordsOf(`n\n${numbers.join('\n')}`, 'CSV');
  expect(csv).toEqual(numbers.map((n) => ({ number: n, line: n + 1, values: { n: String(n) } })));
  const array = await recordsOf(JSON.stringify(numbers.map((n) => ({ n }))));
  expect(array).toEqual(numbers.map((n) => ({ number: n, line: n, values: { n } })));
});

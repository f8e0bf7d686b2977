import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import type { OutgoingPolicy } from './guarded-client.ts';
import { DownloadRefused, openDownload } from './guarded-download.ts';

export type ImportFileType = 'CSV' | 'JSON';

/** A file of records on this machine, whole and checked against its size limit. */
export interface ImportFile {
  readonly path: string;
  readonly type: ImportFileType;
  readonly bytes: number;
  readonly sha256: string;
  remove(): Promise<void>;
}

/** One record of a file, or what is wrong with it. Records count from 1; a header is none. */
export type FileRecord =
  | { readonly number: number; readonly line: number; readonly values: Readonly<Record<string, unknown>> }
  | { readonly number: number; readonly line: number; readonly problem: string };

/** Why a file as a whole cannot be read: for the caller's eyes. */
export class UnreadableFile extends Error {}

/** At most so many bytes, also of what a compressed file unpacks to. CSV: platform §1.9; JSON: own. */
export const maxFileBytes: Readonly<Record<ImportFileType, number>> = { CSV: 5_000_000, JSON: 1_000_000_000 };
const maxArrayBytes = 32 * 1024 * 1024;
const maxLineLength = 32 * 1024 * 1024;
const blockBytes = 128 * 1024;
const idleTimeoutMs = 30_000;
const maxDepth = 64;

/**
 * Fetches a file whole to this machine, unpacked when it is compressed. What a retry fetches again has the same sha256, or
 * is another file. Throws `DownloadRefused` and `UnreadableFile`. spec: platform §18 Processing, §23
 */
export async function fetchImportFile(
  source: { url: string; type: ImportFileType },
  policy: OutgoingPolicy,
  signal: AbortSignal,
): Promise<ImportFile> {
  const answer = await openDownload(source.url, policy, signal);
  const directory = await mkdtemp(join(tmpdir(), 'perennial-import-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, 'file');
  const hash = createHash('sha256');
  const limit = maxFileBytes[source.type];
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > limit ? new UnreadableFile(`the file is larger than ${limit} bytes`) : null, chunk);
    },
  });
  const packed = answer.headers['content-encoding'] === 'gzip' || /\.gz(ip)?$/i.test(new URL(source.url).pathname);
  try {
    answer.setTimeout(idleTimeoutMs, () => answer.destroy(new DownloadRefused('file_url stopped sending', true)));
    const file = createWriteStream(path);
    await (packed
      ? pipeline(answer, createGunzip(), counted, file, { signal })
      : pipeline(answer, counted, file, { signal }));
  } catch (error) {
    await remove();
    if (error instanceof UnreadableFile || error instanceof DownloadRefused || signal.aborted) throw error;
    const code = String((error as { code?: unknown }).code ?? '');
    if (code.startsWith('Z_')) throw new UnreadableFile('the file is not a whole gzip file');
    throw new DownloadRefused('file_url could not be read to its end', true);
  }
  return { path, type: source.type, bytes, sha256: hash.digest('hex'), remove };
}

/**
 * The records of a file in order, many at a time. A bad record is told and the next one goes on; a file that is none throws
 * `UnreadableFile`. CSV: a header row, names trimmed and in any case. JSON: an array of objects, or an object a line.
 * spec: platform §18 Processing
 */
export async function* readRecords(file: Pick<ImportFile, 'path' | 'type' | 'bytes'>): AsyncGenerator<FileRecord[]> {
  if (file.type === 'CSV') yield* inBlocks(csvRecords(file.path));
  else if (await isArray(file.path)) yield* inBlocks(arrayRecords(file));
  else yield* lineRecords(file.path);
}

const blockRecords = 500;

async function* inBlocks(records: AsyncIterable<FileRecord>): AsyncGenerator<FileRecord[]> {
  let block: FileRecord[] = [];
  for await (const record of records) {
    block.push(record);
    if (block.length < blockRecords) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}

async function* csvRecords(path: string): AsyncGenerator<FileRecord> {
  const parser = parse({
    bom: true,
    columns: (header: string[]) => header.map(columnName),
    info: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const stream = createReadStream(path);
  stream.on('error', (error) => parser.destroy(error));
  stream.pipe(parser);
  let [number, lines, empty] = [0, 1, 0];
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      number += 1;
      const line = lines + (info.empty_lines - empty) + 1;
      [lines, empty] = [info.lines, info.empty_lines];
      const isLonger = (info.error?.record?.length ?? 0) > info.columns.length;
      yield isLonger
        ? { number, line, problem: 'it has more cells than the header' }
        : { number, line, values: record };
    }
  } catch (error) {
    if (!String((error as { code?: unknown }).code ?? '').startsWith('CSV_')) throw error;
    throw new UnreadableFile(`the file is no CSV behind record ${number}: ${(error as Error).message.slice(0, 200)}`);
  } finally {
    stream.destroy();
  }
}

interface CsvRecord {
  record: Record<string, string>;
  info: { lines: number; empty_lines: number; columns: unknown[]; error?: { record?: unknown[] } };
}

/** Names in any case, but for what follows `properties.` and `metadata.`, which are names of the caller. */
function columnName(cell: string): string {
  const name = cell.trim();
  const own = /^(properties|metadata)\.(.+)$/is.exec(name);
  return own ? `${own[1]?.toLowerCase()}.${own[2]}` : name.toLowerCase();
}

async function isArray(path: string): Promise<boolean> {
  for await (const chunk of createReadStream(path, { encoding: 'utf8', end: 65_535 })) {
    const start = (chunk as string).replace(/^\uFEFF/, '').trimStart();
    if (start !== '') return start.startsWith('[');
  }
  return false;
}

async function* arrayRecords({ path, bytes }: Pick<ImportFile, 'path' | 'bytes'>): AsyncGenerator<FileRecord> {
  if (bytes > maxArrayBytes) {
    throw new UnreadableFile(`a JSON array may have ${maxArrayBytes} bytes; send an object a line instead`);
  }
  let elements: unknown;
  try {
    elements = parseExactJson((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch {
    throw new UnreadableFile('the file is not valid JSON');
  }
  for (const [index, element] of (elements as unknown[]).entries()) yield objectRecord(element, index + 1, index + 1);
}

/** Lines end with LF or CRLF. They are cut out of blocks: to wait for each by itself costs more than to parse it. */
async function* lineRecords(path: string): AsyncGenerator<FileRecord[]> {
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: blockBytes });
  let [number, line, rest] = [0, 0, ''];
  const recordsOf = (lines: readonly string[]) => {
    const records: FileRecord[] = [];
    for (const text of lines) {
      line += 1;
      const trimmed = line === 1 ? text.replace(/^\uFEFF/, '').trim() : text.trim();
      if (trimmed === '') continue;
      number += 1;
      records.push(lineRecord(trimmed, number, line));
    }
    return records;
  };
  for await (const block of stream as AsyncIterable<string>) {
    if (!block.includes('\n')) rest += block;
    else {
      const lines = (rest + block).split('\n');
      rest = lines.pop() ?? '';
      yield recordsOf(lines);
    }
    if (rest.length > maxLineLength)
      throw new UnreadableFile(`line ${line + 1} has more than ${maxLineLength} characters`);
  }
  yield recordsOf([rest]);
}

function lineRecord(text: string, number: number, line: number): FileRecord {
  try {
    return objectRecord(parseExactJson(text), number, line);
  } catch {
    return { number, line, problem: 'it is not valid JSON' };
  }
}

function objectRecord(value: unknown, number: number, line: number): FileRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { number, line, problem: 'it is not an object' };
  }
  if (isDeeperThan(value, maxDepth)) return { number, line, problem: `it is nested more than ${maxDepth} levels deep` };
  return { number, line, values: value as Record<string, unknown> };
}

/** A number that a float would change follows one of these; a hit inside a string only costs the slower path. */
const longNumber = /(?:[:[,]|^)\s*-?(?:[\d.]{16,}|[\d.]+[eE])/;

/** JSON whose numbers keep every digit, as those of a request do. Throws SyntaxError. */
export function parseExactJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : JSON.rawJSON(context.source);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}

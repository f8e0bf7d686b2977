import { setTimeout as delay } from 'node:timers/promises';
import type { RowError } from '../../db/entities/platform/task.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import type { OutgoingPolicy } from '../../integrations/guarded-client.ts';
import { DownloadRefused } from '../../integrations/guarded-download.ts';
import {
  type FileRecord,
  fetchImportFile,
  type ImportFile,
  parseExactJson,
  readRecords,
  UnreadableFile,
} from '../../integrations/import-file.ts';
import type { PreparedEvent } from '../../metering/event.ts';
import { eventOfRecord, requiredEventColumns } from '../../metering/import-event.ts';
import type { UnstorableEvent } from '../../metering/rejected-event.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import {
  countChunk,
  endImport,
  type ImportTask,
  noteFile,
  resumeImport,
} from '../../services/platform/task-progress.ts';
import type { ImportProgress } from '../../workflows/platform/task.messages.ts';
import { crashPoint } from '../crash-points.ts';

interface ImportDependencies {
  database: Database;
  metering: UsageStore;
  outgoing: OutgoingPolicy;
}

interface ImportRun {
  taskId: string;
  runId: string;
  signal: AbortSignal;
  onProgress(progress: ImportProgress): void;
}

/** Larger batches cost less a record; a killed worker repeats one at most. spec: platform §18 speaks of 1 000, own: more */
const chunkRecords = 20_000;
const fetchTries = 3;

/**
 * Imports what is left of a task's file: chunk by chunk, each stored and counted in one transaction, the next one read
 * meanwhile. Bad records are counted and told with their line, the good ones kept. A file that cannot be fetched or read
 * fails the task; what was stored of it stays. Answers why the task failed, null where it did not. spec: platform §18 Processing
 */
export async function runImport(
  dependencies: ImportDependencies,
  scope: Scope,
  run: ImportRun,
): Promise<string | null> {
  const { database } = dependencies;
  const task = await inSqlTransaction(database, scope, (tx) =>
    resumeImport(tx, scope, { taskId: run.taskId, runId: run.runId, at: now() }),
  );
  if (!task) return null;
  run.onProgress(task);
  const end = (reason?: string) =>
    inSqlTransaction(database, scope, (tx) =>
      endImport(tx, scope, { taskId: task.id, at: now(), ...(reason === undefined ? {} : { reason }) }),
    );
  let file: ImportFile | null = null;
  try {
    file = await fetched(task, dependencies.outgoing, run.signal);
    const { sha256 } = file;
    const isSame = await inSqlTransaction(database, scope, (tx) => noteFile(tx, scope, task.id, sha256));
    if (!isSame) throw new UnreadableFile('file_url leads to another file than when the import began');
    await storeRecords(dependencies, scope, task, file, run);
    crashPoint('importEvents.beforeAnswer');
    await end();
    return null;
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof TaskStopped) return null;
    if (!(error instanceof UnreadableFile || error instanceof DownloadRefused)) throw error;
    await end(error.message);
    return error.message;
  } finally {
    await file?.remove();
  }
}

/** Somebody ended the task, or another attempt is ahead of this one. */
class TaskStopped extends Error {}

function now(): string {
  return new Date().toISOString();
}

async function fetched(task: ImportTask, policy: OutgoingPolicy, signal: AbortSignal): Promise<ImportFile> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchImportFile({ url: task.fileUrl, type: task.fileType }, policy, signal);
    } catch (error) {
      if (!(error instanceof DownloadRefused && error.again) || attempt === fetchTries) throw error;
      await delay(attempt * 1_000, undefined, { signal });
    }
  }
}

async function storeRecords(
  dependencies: ImportDependencies,
  scope: Scope,
  task: ImportTask,
  file: ImportFile,
  run: ImportRun,
): Promise<void> {
  const reached = { ...task };
  // Two chunks are under way: one is stored while the next one is sent, and waits for it.
  let storing: Promise<void> = Promise.resolve();
  let sending: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of chunks(dependencies.database, scope, readRecords(file), task.processedRecords)) {
      run.signal.throwIfAborted();
      await storing;
      run.onProgress(reached);
      storing = sending;
      const next = { ...chunk, from: reached.processedRecords };
      sending = storeChunk(dependencies, scope, task.id, next, storing).then((unstorable) => {
        reached.successfulRecords -= unstorable;
        reached.failedRecords += unstorable;
      });
      // They are awaited above or below; until then their failure is nobody's.
      sending.catch(() => undefined);
      reached.processedRecords += sizeOf(chunk);
      reached.successfulRecords += chunk.events.length;
      reached.failedRecords += chunk.errors.length;
    }
  } finally {
    await Promise.allSettled([storing, sending]);
    await storing;
    await sending;
  }
  run.onProgress(reached);
}

/**
 * What becomes of the records behind the first `skipped`, in chunks. A record is made an event as soon as it is read: what it
 * was read from need not be kept for as long as its chunk.
 */
async function* chunks(
  database: Database,
  scope: Scope,
  blocks: AsyncIterable<FileRecord[]>,
  skipped: number,
): AsyncGenerator<Chunk> {
  let chunk = emptyChunk();
  for await (const block of blocks) {
    if (block[0]?.number === 1) checkColumns(block[0]);
    const records = block.filter(({ number }) => number > skipped);
    const externalIds = await externalIdsOf(database, scope, records);
    for (const record of records) {
      const made =
        'problem' in record ? record : eventOfRecord(record.values, (id) => externalIds.get(id), parseExactJson);
      if ('event' in made) {
        chunk.events.push(made.event);
        chunk.places.push({ record: record.number, line: record.line });
      } else chunk.errors.push({ record: record.number, line: record.line, reason: made.problem });
      if (sizeOf(chunk) < chunkRecords) continue;
      yield chunk;
      chunk = emptyChunk();
    }
  }
  if (sizeOf(chunk) > 0) yield chunk;
}

/** A file whose first record shows none of a required column is no file of events. spec: platform §18 */
function checkColumns(record: FileRecord): void {
  if (!('values' in record)) return;
  const missing = requiredEventColumns.find((names) => !names.some((name) => Object.hasOwn(record.values, name)));
  if (missing) throw new UnreadableFile(`the file has no column ${missing.join(' or ')}`);
}

interface Chunk {
  events: PreparedEvent[];
  /** Lines of the file that the events came from. */
  places: Pick<RowError, 'record' | 'line'>[];
  errors: RowError[];
}

const emptyChunk = (): Chunk => ({ events: [], places: [], errors: [] });

function sizeOf({ events, errors }: Chunk): number {
  return events.length + errors.length;
}

/** External ids of the customers that records name by `customer_id` alone. */
async function externalIdsOf(
  database: Database,
  scope: Scope,
  records: readonly FileRecord[],
): Promise<Map<string, string>> {
  const ids = new Set<string>();
  for (const record of records) {
    if ('problem' in record || record.values.external_customer_id) continue;
    if (typeof record.values.customer_id === 'string') ids.add(record.values.customer_id);
  }
  if (ids.size === 0) return new Map();
  const rows = await inSqlTransaction(database, scope, (tx) =>
    tx.rows<{ id: string; external_id: string }>(
      `select id, external_id from customer where environment_id = $1 and id = any($2) and status = 'published'`,
      [scope.environmentId, [...ids]],
    ),
  );
  return new Map(rows.map((row) => [row.id, row.external_id]));
}

/** Returns how many of the chunk's events could not be stored. */
async function storeChunk(
  { metering }: ImportDependencies,
  scope: Scope,
  taskId: string,
  { events, places, errors, from }: Chunk & { from: number },
  turn: Promise<void>,
): Promise<number> {
  crashPoint('importEvents.beforeEffect');
  const count = async (sql: Sql, unstorable: readonly UnstorableEvent[]) => {
    const refused = unstorable.flatMap(({ event, problem }) => {
      const place = places[events.indexOf(event)];
      return place ? { ...place, reason: `it cannot be stored: ${problem}` } : [];
    });
    const counted = { from, successful: events.length - refused.length, errors: [...errors, ...refused] };
    const isCounted = await countChunk(sql, scope, taskId, counted);
    if (!isCounted) throw new TaskStopped(`task ${taskId} was stopped`);
    crashPoint('importEvents.beforeCommit');
  };
  const unstorable = await metering.load(scope, events, count, turn);
  crashPoint('importEvents.afterEffect');
  return unstorable.length;
}

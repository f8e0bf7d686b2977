import type { RowError } from '../../db/entities/platform/task.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';

/** Where an import stands, as its step reads it. */
export interface ImportTask {
  id: string;
  fileUrl: string;
  fileType: 'CSV' | 'JSON';
  fileSha256: string | null;
  processedRecords: number;
  successfulRecords: number;
  failedRecords: number;
}

/** What a chunk of records adds. `from` is how many records were processed before it. */
export interface ImportedChunk {
  from: number;
  successful: number;
  errors: readonly RowError[];
}

export const maxRowErrors = 1_000;

/** Begins an import or goes on with it; null when it has ended or was stopped. spec: platform §18 States */
export async function resumeImport(
  sql: Sql,
  scope: Scope,
  input: { taskId: string; runId: string; at: string },
): Promise<ImportTask | null> {
  const [row] = await sql.rows<TaskRow>(resumeText, [scope.environmentId, input.taskId, input.runId, input.at]);
  return row ? importTask(row) : null;
}

/**
 * Counts a chunk, in the transaction that stores its records: so each record is imported once, whatever dies when. False
 * when somebody stopped the task or counted the chunk before; then nothing of the transaction may be kept.
 */
export async function countChunk(sql: Sql, scope: Scope, taskId: string, chunk: ImportedChunk): Promise<boolean> {
  const rows = await sql.rows(countText, [
    scope.environmentId,
    taskId,
    chunk.from,
    chunk.successful,
    chunk.errors.length,
    JSON.stringify(chunk.errors.slice(0, maxRowErrors)),
    new Date().toISOString(),
    maxRowErrors,
  ]);
  return rows.length > 0;
}

/** Remembers what was fetched. False when a file of another content was fetched before. */
export async function noteFile(sql: Sql, scope: Scope, taskId: string, sha256: string): Promise<boolean> {
  const rows = await sql.rows(
    `update task set file_sha256 = $3 where environment_id = $1 and id = $2 and coalesce(file_sha256, $3) = $3 returning id`,
    [scope.environmentId, taskId, sha256],
  );
  return rows.length > 0;
}

/** Ends an import that is under way: without `reason` it is complete. An ended task stays as it is. spec: platform §18 */
export async function endImport(
  sql: Sql,
  scope: Scope,
  input: { taskId: string; at: string; reason?: string },
): Promise<void> {
  const status = input.reason === undefined ? 'COMPLETED' : 'FAILED';
  const [row] = await sql.rows<{ processed_records: number }>(endText, [
    scope.environmentId,
    input.taskId,
    status,
    input.reason ?? null,
    input.at,
  ]);
  if (!row) return;
  const detail = { processed_records: row.processed_records, ...(input.reason ? { reason: input.reason } : {}) };
  const action = status.toLowerCase();
  await writeAudit(sql, scope, [{ objectType: 'task', objectId: input.taskId, action, occurredAt: input.at, detail }]);
}

interface TaskRow {
  id: string;
  file_url: string;
  file_type: 'CSV' | 'JSON';
  file_sha256: string | null;
  processed_records: number;
  successful_records: number;
  failed_records: number;
  [column: string]: unknown;
}

function importTask(row: TaskRow): ImportTask {
  return {
    id: row.id,
    fileUrl: row.file_url,
    fileType: row.file_type,
    fileSha256: row.file_sha256,
    processedRecords: row.processed_records,
    successfulRecords: row.successful_records,
    failedRecords: row.failed_records,
  };
}

const resumeText = `
update task set task_status = 'PROCESSING', run_id = $3, started_at = coalesce(started_at, $4::timestamptz), updated_at = $4::timestamptz
where environment_id = $1 and id = $2 and task_status in ('PENDING', 'PROCESSING') and status = 'published'
returning id, file_url, file_type, file_sha256, processed_records, successful_records, failed_records`;

const countText = `
update task set processed_records = processed_records + $4 + $5, successful_records = successful_records + $4,
  failed_records = failed_records + $5, updated_at = $7::timestamptz,
  row_errors = case when jsonb_array_length(row_errors) >= $8 then row_errors else (
    select coalesce(jsonb_agg(e order by ord), '[]') from (
      select e, ord from jsonb_array_elements(row_errors || $6::jsonb) with ordinality as t(e, ord) order by ord limit $8) kept) end
where environment_id = $1 and id = $2 and task_status = 'PROCESSING' and processed_records = $3
returning id`;

const endText = `
update task set task_status = $3, failure_reason = $4, updated_at = $5::timestamptz,
  completed_at = case when $3 = 'COMPLETED' then $5::timestamptz end, failed_at = case when $3 = 'FAILED' then $5::timestamptz end,
  total_records = case when $3 = 'COMPLETED' then processed_records else total_records end
where environment_id = $1 and id = $2 and task_status in ('PENDING', 'PROCESSING') returning processed_records`;

import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import type { Task } from '../../db/entities/platform/task.ts';
import { badField } from '../../db/rows/record.ts';
import type { OutgoingPolicy } from '../../integrations/guarded-client.ts';
import { checkedAddress, DownloadRefused } from '../../integrations/guarded-download.ts';
import { type NewTask, taskStatuses } from '../../services/platform/task.ts';
import { maxRowErrors } from '../../services/platform/task-progress.ts';
import { importWorkflowId } from '../../workflows/platform/task.messages.ts';
import { listOf, listQuery } from '../list.ts';
import { timestampOutput } from '../scalars.schema.ts';

const taskTypes = ['IMPORT', 'EXPORT'] as const;
const entityTypes = ['EVENTS', 'PRICES', 'CUSTOMERS', 'FEATURES'] as const;
const fileTypes = ['CSV', 'JSON'] as const;

/** spec: platform §18 POST /tasks */
export const createTaskBody = z
  .object({
    task_type: z.enum(taskTypes),
    entity_type: z.enum(entityTypes).describe('Only EVENTS in this release.'),
    file_url: z
      .string()
      .max(2_048)
      .meta({ examples: ['https://files.example.com/events.csv'] }),
    file_name: z.string().max(255).nullish(),
    file_type: z.enum(fileTypes).describe('JSON: an array of objects, or an object a line.'),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'CreateTaskRequest' });

/** The task of a request. Throws `validation_error`, and `not_implemented` for what this release does not import. */
export function newTask(body: z.output<typeof createTaskBody>, id: string, outgoing: OutgoingPolicy): NewTask {
  if (body.task_type !== 'IMPORT') throw notBuilt('task_type', 'IMPORT');
  if (body.entity_type !== 'EVENTS') throw notBuilt('entity_type', 'EVENTS');
  try {
    checkedAddress(body.file_url, outgoing);
  } catch (error) {
    if (error instanceof DownloadRefused) throw badField('file_url', error.message.replace(/^file_url /, ''));
    throw error;
  }
  return {
    id,
    taskType: body.task_type,
    entityType: body.entity_type,
    fileUrl: body.file_url,
    fileName: body.file_name ?? null,
    fileType: body.file_type,
    metadata: body.metadata ?? null,
    workflowId: importWorkflowId(id),
  };
}

function notBuilt(field: string, choice: string) {
  const problem = `must be ${choice}: the others are not part of this release`;
  return refuse('not_implemented', `${field} ${problem}`, { fields: { [field]: problem } });
}

const filters = {
  task_type: z.enum(taskTypes).optional(),
  entity_type: z.enum(entityTypes).optional(),
  task_status: z.enum(taskStatuses).optional(),
  scheduled_task_id: z.string().max(255).optional(),
  created_by: z.string().max(255).optional(),
};
export const taskListQuery = listQuery(filters);

/** The conditions of a list. Imports are of no schedule, so an id of one matches nothing. */
export function taskFiltersOf(query: z.output<typeof taskListQuery>): Record<string, unknown> {
  const { task_type, entity_type, task_status, scheduled_task_id, created_by } = query as z.output<
    z.ZodObject<typeof filters>
  >;
  return {
    ...(task_type ? { taskType: task_type } : {}),
    ...(entity_type ? { entityType: entity_type } : {}),
    ...(task_status ? { taskStatus: task_status } : {}),
    ...(created_by ? { createdBy: created_by } : {}),
    ...(scheduled_task_id ? { id: '' } : {}),
  };
}

export const taskStatusBody = z
  .object({ task_status: z.enum(taskStatuses) })
  .meta({ id: 'UpdateTaskStatusRequest', examples: [{ task_status: 'PROCESSING' }] });

export const taskResultQuery = z.object({ workflow_id: z.string().min(1, 'is required').max(255) });

export const task = z
  .object({
    id: z.string(),
    task_type: z.enum(taskTypes),
    entity_type: z.enum(entityTypes),
    file_url: z.string(),
    file_name: z.string().nullable(),
    file_type: z.enum(fileTypes),
    task_status: z.enum(taskStatuses),
    total_records: z.int().nullable().describe('Known when the file was read to its end.'),
    processed_records: z.int(),
    successful_records: z.int(),
    failed_records: z.int(),
    error_summary: z.string().nullable(),
    row_errors: z
      .array(z.object({ record: z.int(), line: z.int(), reason: z.string() }))
      .describe('Own: the same by record and line, the first 1000.'),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    workflow_id: z.string(),
    scheduled_task_id: z.string().nullable(),
    started_at: timestampOutput().nullable(),
    completed_at: timestampOutput().nullable(),
    failed_at: timestampOutput().nullable(),
    tenant_id: z.string(),
    environment_id: z.string(),
    status: z.string(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
    created_by: z.string(),
    updated_by: z.string(),
  })
  .meta({ id: 'Task' });

export const taskList = listOf(task, 'ListTasksResponse');

export const taskDownload = z.object({ download_url: z.string() });

export const taskMessage = z.object({ message: z.string() });

export const taskResult = z
  .object({ message: z.string(), workflow_id: z.string(), run_id: z.string(), task })
  .meta({ id: 'TaskResult' });

export function viewTask(row: Task): z.output<typeof task> {
  return {
    id: row.id,
    task_type: row.taskType as (typeof taskTypes)[number],
    entity_type: row.entityType as (typeof entityTypes)[number],
    file_url: row.fileUrl,
    file_name: row.fileName ?? null,
    file_type: row.fileType as (typeof fileTypes)[number],
    task_status: row.taskStatus as (typeof taskStatuses)[number],
    total_records: row.totalRecords ?? null,
    processed_records: row.processedRecords,
    successful_records: row.successfulRecords,
    failed_records: row.failedRecords,
    error_summary: errorSummary(row),
    row_errors: row.rowErrors,
    metadata: row.metadata ?? null,
    workflow_id: row.workflowId,
    scheduled_task_id: null,
    started_at: row.startedAt ?? null,
    completed_at: row.completedAt ?? null,
    failed_at: row.failedAt ?? null,
    tenant_id: row.tenantId,
    environment_id: row.environmentId,
    status: row.status,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    created_by: row.createdBy,
    updated_by: row.updatedBy,
  };
}

/** Why it failed, then each bad record, then how many more there are. spec: platform §18 Processing */
function errorSummary(row: Task): string | null {
  const more = row.failedRecords - row.rowErrors.length;
  const reasons = [
    ...(row.failureReason ? [row.failureReason] : []),
    ...row.rowErrors.map(({ record, reason }) => `Record ${record}: ${reason}`),
    ...(more > 0 ? [`${more} more than the first ${maxRowErrors}`] : []),
  ];
  return reasons.length === 0 ? null : reasons.join('; ');
}

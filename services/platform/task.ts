import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { Task } from '../../db/entities/platform/task.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';

export const taskStatuses = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export interface NewTask {
  id: string;
  taskType: string;
  entityType: string;
  fileUrl: string;
  fileName: string | null;
  fileType: string;
  metadata: Record<string, unknown> | null;
  workflowId: string;
}

/** Creates an import that waits to be started; the same id again is the same task. spec: platform §18 */
export async function createTask(tx: Transaction, input: NewTask): Promise<Task> {
  const known = await tx.em.findOne(Task, { id: input.id, environmentId: tx.scope.environmentId });
  if (known) return known;
  const { id, ...members } = input;
  const task = tx.em.create(Task, { ...newRecord(tx, 'task', id), ...members, rowErrors: [] });
  await tx.em.flush();
  await audit(tx, task, 'created');
  return task;
}

/** One task. Throws `not_found`. */
export async function findTask(tx: Transaction, id: string): Promise<Task> {
  const task = await tx.em.findOne(Task, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!task) throw missing('task', id);
  return task;
}

/** The task a workflow works for. Throws `not_found`. spec: platform §18 GET /tasks/result */
export async function findTaskOfWorkflow(tx: Transaction, workflowId: string): Promise<Task> {
  const task = await tx.em.findOne(Task, { workflowId, environmentId: tx.scope.environmentId, status: 'published' });
  if (!task) throw missing('workflow', workflowId, 'workflow_id');
  return task;
}

const tasks: ListDefinition<Task> = {
  entity: Task,
  columns: {
    task_type: 'string',
    entity_type: 'string',
    file_type: 'string',
    task_status: 'string',
    started_at: 'date',
    completed_at: 'date',
    failed_at: 'date',
  },
};

/** One page of tasks. spec: platform §18 GET /tasks */
export function listTasks(tx: Transaction, query: ListQuery, own: Record<string, unknown>): Promise<ListPage<Task>> {
  return listPage(tx, tasks, query, own);
}

const allowed: Readonly<Record<string, readonly TaskStatus[]>> = {
  PENDING: ['PROCESSING', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  FAILED: ['PROCESSING'],
  COMPLETED: [],
};

/**
 * Sets the status of a task by hand: PROCESSING begins it, also again after a failure, where it goes on behind the last
 * record it stored; FAILED and COMPLETED stop it, and nothing more is stored. Throws `not_found`, and `invalid_operation`
 * for a change that does not exist. spec: platform §18 States
 */
export async function changeTaskStatus(tx: Transaction, id: string, to: TaskStatus): Promise<Task> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const task = await tx.em.findOne(Task, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!task) throw missing('task', id);
  const choices = allowed[task.taskStatus] ?? [];
  if (!choices.includes(to)) {
    const remedy = choices.length === 0 ? 'its status is final' : `it can become ${choices.join(' or ')}`;
    throw refuse('invalid_operation', `task ${id} is ${task.taskStatus} and cannot become ${to}: ${remedy}`);
  }
  touch(tx, task);
  task.taskStatus = to;
  if (to === 'PROCESSING') {
    task.startedAt ??= task.updatedAt;
    task.failedAt = null;
    task.failureReason = null;
  } else if (to === 'FAILED') {
    task.failedAt = task.updatedAt;
    task.failureReason = 'stopped by hand';
  } else {
    task.completedAt = task.updatedAt;
    task.totalRecords = task.processedRecords;
  }
  await tx.em.flush();
  await audit(tx, task, to.toLowerCase());
  return task;
}

function audit(tx: Transaction, task: Task, action: string): Promise<void> {
  const detail = { task_type: task.taskType, entity_type: task.entityType, processed_records: task.processedRecords };
  return writeAudit(tx, tx.scope, [
    { objectType: 'task', objectId: task.id, action, occurredAt: task.updatedAt, detail },
  ]);
}

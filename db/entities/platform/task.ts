import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/** What is wrong with one record of an imported file; `line` is where it begins. */
export interface RowError {
  record: number;
  line: number;
  reason: string;
}

/** An import of a file. Counts change in the transaction that stores the records they count. spec: platform §18 */
const schema = defineEntity({
  name: 'Task',
  tableName: 'task',
  properties: {
    ...recordColumns,
    taskType: p.text(),
    entityType: p.text(),
    fileUrl: p.text(),
    fileName: p.text().nullable(),
    fileType: p.text(),
    /** Of what was fetched first: a retry that fetches something else would import a mixture. */
    fileSha256: p.text().nullable(),
    taskStatus: p.text().default('PENDING'),
    totalRecords: p.integer().nullable(),
    processedRecords: p.integer().default(0),
    successfulRecords: p.integer().default(0),
    failedRecords: p.integer().default(0),
    /** The first 1 000 of them. */
    rowErrors: p.json<RowError[]>(),
    /** Why the task as a whole failed. */
    failureReason: p.text().nullable(),
    metadata: p.json<Record<string, unknown>>().nullable(),
    workflowId: p.text(),
    runId: p.text().nullable(),
    startedAt: instant().nullable(),
    completedAt: instant().nullable(),
    failedAt: instant().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }, { properties: ['environmentId', 'workflowId'] }],
});
export class Task extends schema.class {}
schema.setClass(Task);

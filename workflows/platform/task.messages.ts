import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';

export const importWorkflowType = 'importFile';

export function importWorkflowId(taskId: string): string {
  return `import/${taskId}`;
}

export interface ImportStart {
  tenantId: string;
  environmentId: string;
  taskId: string;
}

export interface ImportProgress {
  processedRecords: number;
  successfulRecords: number;
  failedRecords: number;
}

/** The task shall be worked on: sent with the start, and again when a failed task is to go on. */
export const begin = defineSignal('begin');
/** Stops the import behind the chunk that is being stored; true when one was under way. */
export const cancel = defineUpdate<{ cancelled: boolean }>('cancel');
/** How far the running step has come, every few seconds. */
export const progressed = defineSignal<[ImportProgress]>('progressed');
export const progress = defineQuery<ImportProgress & { state: string }>('progress');

import { WorkflowFailedError } from '@temporalio/client';
import { expect } from 'vitest';
import { importWorkflowId } from '../../../workflows/platform/task.messages.ts';
import { created, type testPlatform } from '../../support/billing.ts';

export interface TaskView {
  id: string;
  task_status: string;
  total_records: number | null;
  processed_records: number;
  successful_records: number;
  failed_records: number;
  error_summary: string | null;
  row_errors: { record: number; line: number; reason: string }[];
  workflow_id: string;
}

/** Imports of files, and what came of them. */
export function fileImports({ api, temporal }: Awaited<ReturnType<typeof testPlatform>>) {
  const request = (url: string, members: Record<string, unknown> = {}) => ({
    task_type: 'IMPORT',
    entity_type: 'EVENTS',
    file_type: 'CSV',
    file_url: url,
    ...members,
  });

  const taskOf = async (id: string) => (await api<TaskView>('GET', `/tasks/${id}`)).body;

  /** Waits for the end of an import's workflow and answers why it failed; null where it completed, as its task did. */
  async function ended(id: string): Promise<string | null> {
    const workflow = temporal.client.workflow.getHandle(importWorkflowId(id));
    const failure = await workflow.result().then(
      () => null,
      (error: unknown) => (error instanceof WorkflowFailedError ? (error.cause?.message ?? '') : Promise.reject(error)),
    );
    expect((await taskOf(id)).task_status).toBe(failure === null ? 'COMPLETED' : 'FAILED');
    return failure;
  }

  /** Imports a file and returns its task when its workflow has ended. */
  async function imported(url: string, members: Record<string, unknown> = {}): Promise<TaskView> {
    const { id } = await created(api, '/tasks', request(url, members));
    await ended(id);
    return taskOf(id);
  }

  const eventOf = async (id: string) =>
    (await api<{ event: Record<string, unknown> & { properties: unknown } }>('GET', `/events/${id}`)).body.event;
  return { request, taskOf, imported, ended, eventOf };
}

import { importWorkflowId } from '../../workflows/task.messages.ts';
import { created, type testPlatform } from '../support/billing.ts';

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

  /** Imports a file and returns its task when its workflow has ended. */
  async function imported(url: string, members: Record<string, unknown> = {}): Promise<TaskView> {
    const { id } = await created(api, '/tasks', request(url, members));
    await temporal.client.workflow.getHandle(importWorkflowId(id)).result();
    return taskOf(id);
  }

  const eventOf = async (id: string) =>
    (await api<{ event: Record<string, unknown> & { properties: unknown } }>('GET', `/events/${id}`)).body.event;
  return { request, taskOf, imported, eventOf };
}

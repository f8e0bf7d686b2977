import { serveFiles } from '../../bench/ingest/file-server.ts';
import { poll } from '../../dev/processes.ts';
import { cancel, importWorkflowId, progress, progressed } from '../../workflows/platform/task.messages.ts';
import type { Stage } from './stage.ts';

const csv = 'event_name,external_customer_id,timestamp\ncall,nobody,2026-01-15T00:00:00Z\n';

/** One import goes through, one fails and goes on when it is told to, one is cancelled and begun again while it ends. */
export async function importScenario({ platform }: Stage): Promise<void> {
  const { api, temporal } = platform;
  const files = await serveFiles();
  const begun = async (file_url: string) => {
    const task = { task_type: 'IMPORT', entity_type: 'EVENTS', file_type: 'CSV', file_url };
    const { id } = await api('POST', '/tasks', task);
    return { id, workflow: temporal.workflow.getHandle(importWorkflowId(id)) };
  };
  try {
    await (await begun(files.put('through.csv', csv))).workflow.result();

    const failing = await begun(files.answer('failing.csv', (_, response) => response.writeHead(404).end()));
    await failing.workflow.result().catch(() => undefined);
    files.put('failing.csv', csv);
    await api('PUT', `/tasks/${failing.id}/status`, { task_status: 'PROCESSING' });
    await failing.workflow.result();

    const slow = await begun(files.answer('slow.csv', (_, response) => response.writeHead(200).write(csv)));
    await poll(async () => ((await slow.workflow.query(progress)).state === 'importing' ? true : undefined), 20_000);
    // What the step says every few seconds.
    await slow.workflow.signal(progressed, { processedRecords: 0, successfulRecords: 0, failedRecords: 0 });
    await slow.workflow.executeUpdate(cancel);
    await slow.workflow.result();
    files.put('slow.csv', csv);
    await api('PUT', `/tasks/${slow.id}/status`, { task_status: 'PROCESSING' });
    await slow.workflow.result();
  } finally {
    files.close();
  }
}

import { afterAll, describe, expect, it } from 'vitest';
import { runImport } from '../../../activities/usage/import-events.ts';
import { newId } from '../../../db/id.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import type { UsageStore } from '../../../metering/usage-store.ts';
import { createTask } from '../../../services/platform/task.ts';
import { cancel, importWorkflowId, progress } from '../../../workflows/platform/task.messages.ts';
import { testOutgoing } from '../../support/app.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { testFileServer } from '../../support/file-server.ts';
import { fileImports, type TaskView } from './task.fixture.ts';

const platform = await testPlatform();
const { api, temporal } = platform;
const { database, scope } = platform.base;
const { ended, imported, request, taskOf } = fileImports(platform);
const files = await testFileServer();
const store = openPostgresUsageStore(database);
afterAll(() => store.close());

describe('the task', () => {
  it('goes on where it failed, never twice, and only with the same file', async () => {
    const header = 'event_name,external_customer_id,timestamp';
    const rows = Array.from({ length: 11_000 }, () => 'resumed,acme,2026-01-05T00:00:00Z');
    const content = [header, ...rows].join('\n');
    let tries = 0;
    const url = files.answer('flaky.csv', (_, response) => {
      tries += 1;
      if (tries > 3) response.writeHead(200).end(content);
      else response.writeHead(500).end();
    });
    const failed = await imported(url);
    expect(failed).toMatchObject({ task_status: 'FAILED', error_summary: 'the server of file_url answered 500' });
    // As though 5 000 records had been stored before the failure.
    await inSqlTransaction(database, scope, (tx) =>
      tx.rows('update task set processed_records = 5000, successful_records = 5000 where id = $1', [failed.id]),
    );
    expect((await api('PUT', `/tasks/${failed.id}/status`, { task_status: 'PROCESSING' })).status).toBe(200);
    expect(await ended(failed.id)).toBeNull();
    expect(await taskOf(failed.id)).toMatchObject({ task_status: 'COMPLETED', successful_records: 11_000 });
    const { body } = await api('POST', '/events/query', { event_name: 'resumed', start_time: '2026-01-01T00:00:00Z' });
    expect(body.total_count).toBe(6_000);

    for (const task_status of ['PROCESSING', 'COMPLETED', 'FAILED', 'PENDING']) {
      const answer = await api('PUT', `/tasks/${failed.id}/status`, { task_status });
      expect(answer, task_status).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
  });

  it('imports no record twice when it dies before or after a commit', async () => {
    const lines = Array.from({ length: 45_000 }, () =>
      JSON.stringify({ event_name: 'dies', external_customer_id: 'acme', timestamp: '2026-01-05T00:00:00Z' }),
    );
    const id = newId('task');
    const fileUrl = files.put('dies.ndjson', lines.join('\n'));
    const made = { fileUrl, fileName: null, fileType: 'JSON', metadata: null, workflowId: importWorkflowId(id) };
    await inTransaction(database, scope, (tx) =>
      createTask(tx, { ...made, id, taskType: 'IMPORT', entityType: 'EVENTS' }),
    );
    const died = new Error('as though the process had been killed');
    const dying = (moment: 'before' | 'after'): UsageStore => ({
      ...store,
      load: async (at, events, also, turn) => {
        const dyingAlso: typeof also = async (sql, unstorable) => {
          await also(sql, unstorable);
          if (moment === 'before') throw died;
        };
        await store.load(at, events, dyingAlso, turn);
        throw died;
      },
    });
    const attempt = (metering: UsageStore) =>
      runImport({ database, metering, outgoing: testOutgoing }, scope, {
        taskId: id,
        runId: 'run',
        signal: new AbortController().signal,
        onProgress: () => undefined,
      });
    await expect(attempt(dying('before'))).rejects.toThrow(died);
    expect((await taskOf(id)).processed_records).toBe(0);
    await expect(attempt(dying('after'))).rejects.toThrow(died);
    expect((await taskOf(id)).processed_records).toBe(20_000);
    await expect(attempt(dying('before'))).rejects.toThrow(died);
    await attempt(store);
    expect(await taskOf(id)).toMatchObject({ task_status: 'COMPLETED', successful_records: 45_000 });
    const { body } = await api('POST', '/events/query', { event_name: 'dies', start_time: '2026-01-01T00:00:00Z' });
    expect(body.total_count).toBe(45_000);
  });

  it('notices that another file lies there now', async () => {
    const url = files.put('changing.csv', 'event_name,external_customer_id\nchanging,"a\n');
    const failed = await imported(url);
    files.put('changing.csv', 'event_name,external_customer_id\nchanging,a\n');
    await api('PUT', `/tasks/${failed.id}/status`, { task_status: 'PROCESSING' });
    // The page of its workflow is red and says why.
    expect(await ended(failed.id)).toMatch(
      /^file_url leads to another file than when the import began · after 0 records/,
    );
    expect(await taskOf(failed.id)).toMatchObject({
      task_status: 'FAILED',
      error_summary: 'file_url leads to another file than when the import began',
    });
  });

  it('is stopped by hand while its file still comes, and by the Update cancel', async () => {
    for (const stop of ['status', 'cancel'] as const) {
      const arrived = Promise.withResolvers<void>();
      const url = files.answer(`slow-${stop}`, (_, response) => {
        response.writeHead(200).write('event_name,external_customer_id\n');
        arrived.resolve();
      });
      const { id } = await created(api, '/tasks', request(url));
      await arrived.promise;
      const workflow = temporal.client.workflow.getHandle(importWorkflowId(id));
      expect(await workflow.query(progress)).toMatchObject({ processedRecords: 0, state: 'importing' });
      if (stop === 'status')
        expect((await api('PUT', `/tasks/${id}/status`, { task_status: 'FAILED' })).status).toBe(200);
      else expect(await workflow.executeUpdate(cancel)).toEqual({ cancelled: true });
      await workflow.result();
      expect(await taskOf(id)).toMatchObject({
        task_status: 'FAILED',
        error_summary: stop === 'status' ? 'stopped by hand' : 'cancelled',
      });
    }
  });

  it('is listed, found by its workflow, and has nothing to download', async () => {
    const task = await imported(files.put('one.csv', 'event_name,external_customer_id\ncall,acme\n'), {
      file_name: 'one.csv',
      metadata: { batch: 7 },
    });
    expect(task).toMatchObject({ file_name: 'one.csv', metadata: { batch: 7 }, scheduled_task_id: null });
    const listed = await api<{ items: TaskView[]; pagination: object }>(
      'GET',
      '/tasks?task_status=COMPLETED&limit=2&offset=1',
    );
    expect(listed.body.items).toHaveLength(2);
    expect(listed.body.pagination).toMatchObject({ limit: 2, offset: 1 });
    expect((await api<{ items: [] }>('GET', '/tasks?entity_type=PRICES')).body.items).toEqual([]);
    expect((await api('GET', '/tasks?task_status=DONE')).status).toBe(400);
    const result = await api<{ task: TaskView }>(
      'GET',
      `/tasks/result?workflow_id=${encodeURIComponent(task.workflow_id)}`,
    );
    expect(result.body).toMatchObject({
      workflow_id: task.workflow_id,
      run_id: expect.stringMatching(/./),
      task: { id: task.id },
    });
    expect((await api('GET', '/tasks/result')).status).toBe(400);
    expect((await api('GET', '/tasks/result?workflow_id=import/none')).status).toBe(404);
    expect(await api('GET', `/tasks/${task.id}/download`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect((await api('GET', '/tasks/task_none')).status).toBe(404);
  });

  it('is refused with what this release does not import', async () => {
    const url = 'https://example.com/a.csv';
    for (const members of [{ task_type: 'EXPORT' }, { entity_type: 'PRICES' }]) {
      expect(await api('POST', '/tasks', request(url, members))).toMatchObject({ status: 501 });
    }
    for (const members of [{ task_type: 'OTHER' }, { file_type: 'XML' }, { file_url: undefined }]) {
      expect(await api('POST', '/tasks', request(url, members))).toMatchObject({ status: 400 });
    }
  });
});

import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { runImport } from '../../activities/import-events.ts';
import { newId } from '../../db/id.ts';
import { createTask } from '../../db/stores/task.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import { cancel, importWorkflowId, progress } from '../../workflows/task.messages.ts';
import { testOutgoing } from '../support/app.ts';
import { created, testPlatform } from '../support/billing.ts';
import { testFileServer } from '../support/file-server.ts';
import { january, newCustomer, newMeter, usageOf } from '../support/metering.ts';

const { api, base, temporal } = await testPlatform();
const { database, scope } = base;
const files = await testFileServer();
const store = openPostgresUsageStore(database);
afterAll(() => store.close());

interface TaskView {
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

describe('a CSV file', () => {
  it('keeps good records and lists bad ones with their lines', async () => {
    const customerId = await newCustomer(database, scope, 'by-internal-id');
    const lines = [
      '\uFEFFEvent_ID, event_name ,external_customer_id,customer_id,timestamp,properties,properties.Region,ignored',
      'csv-1,call,acme,,2026-01-05T00:00:00Z,"{""n"": 1.50}",eu,x',
      'csv-2,call,acme,,yesterday,,,x',
      '"csv-3",call,"a\nb",,2026-01-05T00:00:00Z,,,x',
      '',
      `csv-4,call,,${customerId},2026-01-05T00:00:00Z,,,x`,
      'csv-5,call,,,2026-01-05T00:00:00Z,,,x',
      'csv-6,call,acme,,2026-01-05T00:00:00Z,[1],,x',
      'csv-7,call,acme',
      'csv-8,call,acme,,2026-01-05T00:00:00Z,,,x,y',
      'csv-9,call,,cust_unknown,2026-01-05T00:00:00Z,,,',
    ];
    const task = await imported(files.put('events.csv', lines.join('\r\n')));
    expect(task).toMatchObject({
      task_status: 'COMPLETED',
      total_records: 9,
      processed_records: 9,
      successful_records: 4,
      failed_records: 5,
    });
    expect(task.row_errors).toEqual([
      { record: 2, line: 3, reason: expect.stringContaining('timestamp must be an RFC 3339 time') },
      { record: 5, line: 8, reason: 'external_customer_id is required' },
      { record: 6, line: 9, reason: 'properties must be a JSON object' },
      { record: 8, line: 11, reason: 'it has more cells than the header' },
      { record: 9, line: 12, reason: 'customer_id cust_unknown does not exist' },
    ]);
    expect(task.error_summary).toMatch(/^Record 2: timestamp .*; Record 5: external_customer_id is required; Record 6/);
    expect(await eventOf('csv-1')).toMatchObject({ properties: { n: 1.5, Region: 'eu' } });
    expect(await eventOf('csv-3')).toMatchObject({ external_customer_id: 'a\nb' });
    expect(await eventOf('csv-4')).toMatchObject({ external_customer_id: 'by-internal-id', customer_id: customerId });
  });

  it('counts at once, and a repeated file or id counts once', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'sum' });
    const rows = Array.from(
      { length: 12_000 },
      (_, n) => `s-${n},sum,acme,2026-01-${10 + (n % 9)}T00:00:00Z,${n % 7}.25`,
    );
    const header = 'event_id,event_name,external_customer_id,timestamp,properties.n';
    const url = files.put('sum.csv', [header, ...rows, rows[5]].join('\n'));
    expect(await imported(url)).toMatchObject({ task_status: 'COMPLETED', successful_records: 12_001 });
    const usage = await usageOf(database, store, scope, { meterId: meter.id, ...january });
    expect(await imported(url)).toMatchObject({ successful_records: 12_001 });
    expect(await usageOf(database, store, scope, { meterId: meter.id, ...january })).toBe(usage);
    const expected = Array.from({ length: 12_000 }, (_, n) => (n % 7) + 0.25).reduce((sum, n) => sum + n, 0);
    expect(usage).toBe(String(expected));
  });

  it.each([
    [
      'a missing required column',
      'event_name,timestamp\na,2026-01-01T00:00:00Z',
      'no column external_customer_id or customer_id',
    ],
    ['a quote that never ends', 'event_name,external_customer_id\n"a,b\n', 'no CSV behind record 0'],
    ['more than 5 MB', `event_name,external_customer_id\n${'a,b\n'.repeat(1_250_000)}`, 'larger than 5000000 bytes'],
  ])('fails for %s', async (_, content, reason) => {
    const task = await imported(files.put('bad.csv', content));
    expect(task.task_status).toBe('FAILED');
    expect(task.error_summary).toContain(reason);
  });

  it('takes gzip, and refuses what unpacks to more than 5 MB', async () => {
    const csv = 'event_id,event_name,external_customer_id\ngz-1,call,acme\n';
    expect(await imported(files.put('events.csv.gz', gzipSync(csv)))).toMatchObject({ successful_records: 1 });
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
    expect(await imported(files.put('bomb.csv', bomb, { 'content-encoding': 'gzip' }))).toMatchObject({
      task_status: 'FAILED',
      error_summary: 'the file is larger than 5000000 bytes',
    });
    const torn = files.put('torn.csv.gz', gzipSync(csv).subarray(0, 30));
    expect(await imported(torn)).toMatchObject({ error_summary: 'the file is not a whole gzip file' });
  });
});

describe('a JSON file', () => {
  const event = (id: string, more: object = {}) => ({
    event_id: id,
    event_name: 'call',
    external_customer_id: 'acme',
    timestamp: '2026-01-05T00:00:00Z',
    ...more,
  });

  it('is an array, or an object a line, with every digit of a number', async () => {
    const json = { file_type: 'JSON' };
    const array = files.put('array.json', ` ${JSON.stringify([event('a-1'), 7, event('a-2', { properties: [] })])}`);
    expect(await imported(array, json)).toMatchObject({
      successful_records: 1,
      row_errors: [
        { record: 2, reason: 'it is not an object' },
        { record: 3, reason: 'properties must be a JSON object' },
      ],
    });
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    const long = `{"event_id":"l-1","event_name":"call","external_customer_id":"acme","properties":{"n":12345678901234567890.5}}`;
    const content = [
      long,
      '',
      'nonsense',
      JSON.stringify(event('l-2', { event_name: 5 })),
      `{"properties":{"a":${deep}}}`,
    ];
    const lines = await imported(files.put('lines.ndjson', content.join('\n')), json);
    expect(lines).toMatchObject({
      total_records: 4,
      successful_records: 1,
      row_errors: [
        { record: 2, line: 3, reason: 'it is not valid JSON' },
        { record: 3, line: 4, reason: 'event_name must be a string' },
        { record: 4, line: 5, reason: 'it is nested more than 64 levels deep' },
      ],
    });
    const stored = await inSqlTransaction(database, scope, (tx) =>
      tx.rows<{ props: string }>(`select props::text as props from usage.event where event_id = 'l-1'`),
    );
    expect(stored).toEqual([{ props: '{"n":12345678901234567890.5}' }]);
  });

  it('fails when it is no JSON', async () => {
    const url = files.put('no.json', '[{"a":1}');
    expect(await imported(url, { file_type: 'JSON' })).toMatchObject({ error_summary: 'the file is not valid JSON' });
  });
});

describe('the file', () => {
  it('is fetched through redirects of allowed hosts, three at most', async () => {
    const target = files.put('target.csv', 'event_id,event_name,external_customer_id\nr-1,call,acme\n');
    const to = (location: string) => (_: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(302, { location }).end();
    expect(await imported(files.answer('moved', to(target)))).toMatchObject({ successful_records: 1 });
    const round = files.answer('round', to('/round'));
    expect(await imported(round)).toMatchObject({ error_summary: 'file_url is redirected more than 3 times' });
    const inward = files.answer('inward', to('http://localhost:1/secret'));
    expect(await imported(inward)).toMatchObject({ error_summary: 'file_url must be an https address' });
    const private_ = files.answer('private', to('https://10.0.0.1/secret'));
    expect(await imported(private_)).toMatchObject({
      error_summary: 'file_url leads to an address that is not public',
    });
  });

  it('fails the task when it is not there', async () => {
    const task = await imported(files.answer('gone.csv', (_, response) => response.writeHead(404).end()));
    expect(task).toMatchObject({ task_status: 'FAILED', error_summary: 'the server of file_url answered 404' });
  });

  it.each([
    'http://example.com/a.csv',
    'https://127.0.0.2/a.csv',
    'https://[::ffff:10.0.0.1]/a.csv',
    'https://[::1]/a.csv',
    'https://169.254.169.254/latest',
    'https://user:secret@example.com/a.csv',
    'https://example.com:25/a.csv',
    'ftp://example.com/a.csv',
    'no address',
  ])('is refused at %s', async (url) => {
    const answer = await api('POST', '/tasks', request(url));
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toMatch(/^file_url /);
  });
});

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
    await temporal.client.workflow.getHandle(importWorkflowId(failed.id)).result();
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
        const dyingAlso: typeof also = async (sql) => {
          await also(sql);
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
    await temporal.client.workflow.getHandle(importWorkflowId(failed.id)).result();
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

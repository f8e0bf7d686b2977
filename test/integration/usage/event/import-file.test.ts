import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testPlatform } from '../../../support/billing.ts';
import { testFileServer } from '../../../support/file-server.ts';
import { january, newCustomer, newMeter, usageOf } from '../../../support/metering.ts';
import { fileImports } from '../../platform/task.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { database, scope } = platform.base;
const { eventOf, imported, request } = fileImports(platform);
const files = await testFileServer();
const store = openPostgresUsageStore(database);
afterAll(() => store.close());

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

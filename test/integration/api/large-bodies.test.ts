import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase } from '../../support/database.ts';

const base = await testDatabase();
const mebibyte = 1024 * 1024;
const senders = 64;
const bodyBytes = 31 * mebibyte;
const maxResidentBytes = 1024 * mebibyte;
let api: ChildProcess;
let port = 0;

beforeAll(async () => {
  port = await freePort();
  api = spawn(process.execPath, ['api/server.ts'], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: base.applicationUrl,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PORT: String(port),
      LOG_LEVEL: 'info',
      REQUEST_TIMEOUT_MS: '20000',
      HEADERS_TIMEOUT_MS: '1000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const chunk of api.stdout!) if (String(chunk).includes('listening')) break;
  api.stdout!.resume();
}, 60_000);
afterAll(async () => {
  api.kill('SIGTERM');
  await once(api, 'exit');
});

it('leave memory bounded and others served, with and without a key', { timeout: 300_000 }, async () => {
  // A key is good within ten minutes, so that what the others at this address do does not hold it up.
  expect(await post(base.apiKey, '{"event_name":"a","external_customer_id":"c"}')).toBe(202);
  const body = eventsOf(bodyBytes);
  const strangers = await Promise.all(Array.from({ length: senders }, (_, n) => post(`sk_nobody_${n}`, body)));
  expect(strangers.filter((status) => ![401, 429, 'closed'].includes(status))).toEqual([]);

  const many = Array.from({ length: senders }, () => post(base.apiKey, body));
  const whole = Promise.all(many);
  let isOver = false;
  void whole.finally(() => {
    isOver = true;
  });
  const served: unknown[] = [];
  do served.push(await post(base.apiKey, '{"event_name":"a","external_customer_id":"c"}'));
  while (!isOver);
  expect(new Set(served)).toEqual(new Set([202]));
  const statuses = await whole;
  expect(statuses.filter((status) => ![202, 400, 503, 'closed'].includes(status))).toEqual([]);
  expect(statuses).toContain(503);
  expect(peakResidentBytes()).toBeLessThan(maxResidentBytes);
});

it('that do not come in time are 408, and headers too', { timeout: 60_000 }, async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /v1/events HTTP/1.1\r\nHost: a\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  expect(text).toContain('408 Request Timeout');
  expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ http_status_code: 408, success: false });
});

/** The status of a bulk call with this body, or `closed` when the connection ended before an answer could be read. */
async function post(key: string, body: string | Buffer): Promise<number | 'closed'> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const path = '/v1/events';
  const sent: ClientRequest = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
  const answer = new Promise<number | 'closed'>((resolve) => {
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      if (response.statusCode !== 202) sent.destroy();
    });
    sent.on('error', () => resolve('closed'));
  });
  sent.end(body);
  return answer;
}

/** A valid event whose properties make it this long. */
function eventsOf(bytes: number): Buffer {
  const event = { event_name: 'a', external_customer_id: 'c', properties: { text: '' } };
  const [start = '', end = ''] = JSON.stringify(event).split('""');
  return Buffer.concat([Buffer.from(`${start}"`), Buffer.alloc(bytes, 'x'), Buffer.from(`"${end}`)]);
}

function peakResidentBytes(): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1_024;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return free;
}

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { attemptEvent, retryAfterMs } from '../../../activities/event/webhook/attempt.ts';
import { lineAfter, nextAttemptAt, retrySchedule } from '../../../activities/event/webhook/schedule.ts';
import { createGuardedClient, type GuardedClient } from '../../../integrations/guarded-client.ts';
import { attemptOf } from '../../support/webhook-attempt.ts';

const nowMs = Date.parse('2026-01-31T12:00:00Z');
const hour = 3_600_000;

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['86400', 24 * hour],
  ['999999999', 24 * hour],
  ['Sat, 31 Jan 2026 12:10:00 GMT', 600_000],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  ['Fri, 31 Dec 2100 00:00:00 GMT', 24 * hour],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['2026-01-31T12:10:00Z', null],
  ['', null],
])('a retry-after of "%s" asks for %s milliseconds', (header, expected) => {
  expect(retryAfterMs(header, nowMs)).toBe(expected);
});

test('the pauses between the ten attempts of an event add up to 75 hours and 35 minutes, each a fifth shorter or longer at most', () => {
  const pauses = retrySchedule.map((_, index) => {
    const at = (random: number) =>
      Date.parse(nextAttemptAt(retrySchedule, index + 1, nowMs, () => random) ?? '') - nowMs;
    expect(at(0)).toBe(retrySchedule[index]! * 0.8);
    expect(at(1)).toBe(retrySchedule[index]! * 1.2);
    return at(0.5);
  });
  expect(pauses).toHaveLength(9);
  expect(pauses.reduce((sum, pause) => sum + pause)).toBe(75 * hour + 35 * 60_000 + 5_000);
  expect(nextAttemptAt(retrySchedule, 10, nowMs, () => 0.5)).toBeNull();
});

test('jitter never shortens what a receiver asked for', () => {
  const event = { entityId: 'cust_1', sequence: 3 };
  const failed = {
    attempts: 1,
    failure: 'answered 429',
    known: undefined,
    schedule: retrySchedule,
    onExhausted: 'skip',
  };
  const { nextAt } = lineAfter(event, { ...failed, waitMs: hour });
  expect(Date.parse(nextAt!)).toBeGreaterThanOrEqual(Date.now() + hour - 60_000);
});

describe('a receiver that', () => {
  const closing: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closing) await close();
  });

  /** A receiver that does this with a connection once a whole request has come. */
  async function receiver(answer: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      let request = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        request += chunk;
        if (!request.endsWith('{}')) return;
        request = '';
        answer(socket);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  /** Result of one attempt, with a deadline of half a second where nothing is to come. */
  async function outcomeAt(url: string, deadlineMs = 15_000) {
    const client = createGuardedClient({ allowedHosts: ['127.0.0.1'] });
    const hurried: GuardedClient = { ...client, post: (call) => client.post({ ...call, deadlineMs }) };
    const sent = { id: 'sys_event_1', object: 'cust_1', sequence: 1, previous: 0 };
    try {
      const attempt = attemptOf(url, sent, `whsec_${'A'.repeat(32)}`, '{}', nowMs);
      return await attemptEvent(hurried, attempt, new AbortController().signal);
    } finally {
      await client.close();
    }
  }

  const drip = (text: string) => (socket: Socket) => {
    const bytes = text.split('');
    const dripping = setInterval(() => socket.write(bytes.shift() ?? 'x'), 5);
    socket.on('close', () => clearInterval(dripping));
  };
  const say = (text: string) => (socket: Socket) => void socket.write(text);
  const sayAndEnd = (text: string) => (socket: Socket) => void socket.write(text, () => socket.destroy());
  const received = { failure: null, isUnreached: false, waitMs: null };
  const answered = (status: number) => ({ failure: `answered ${status}`, isUnreached: false, waitMs: null });
  const noAnswer = { failure: 'no answer in time', isUnreached: true, waitMs: null };
  const noConnection = { failure: 'no connection', isUnreached: true, waitMs: null };

  test.each([
    ['hangs', () => undefined],
    ['answers its headers byte by byte', drip(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(1_000)}`)],
    ['announces an answer and never gives it', say('HTTP/1.1 102 Processing\r\n\r\n')],
  ])('%s did not answer in time', async (_, answer) => {
    expect(await outcomeAt(await receiver(answer), 500)).toMatchObject(noAnswer);
  });

  test.each([
    ['closes before it answers', sayAndEnd(''), noConnection],
    ['closes in the middle of its headers', sayAndEnd('HTTP/1.1 200 OK\r\nx-l'), noConnection],
    ['speaks another protocol', sayAndEnd('220 mail.example.com ESMTP\r\n'), noConnection],
    ['answers a megabyte of headers', say(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`), noConnection],
    ['announces more and then answers', say('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No\r\n\r\n'), received],
    ['answers its body byte by byte', drip('HTTP/1.1 200 OK\r\n\r\nthanks'), received],
    ['closes in the middle of its body', sayAndEnd('HTTP/1.1 202 OK\r\ncontent-length: 100\r\n\r\nthan'), received],
    ['answers 10 MB', say(`HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n${'a'.repeat(10_000_000)}`), received],
    [
      'redirects',
      say('HTTP/1.1 301 Moved\r\nlocation: https://example.com/\r\ncontent-length: 0\r\n\r\n'),
      answered(301),
    ],
    [
      'redirects with the method',
      say('HTTP/1.1 308 Moved\r\nlocation: /there\r\ncontent-length: 0\r\n\r\n'),
      answered(308),
    ],
    ['is not changed', say('HTTP/1.1 304 Not Modified\r\n\r\n'), answered(304)],
    ['wants a login', say('HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n'), answered(401)],
    ['failed', say('HTTP/1.1 500 No\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n'), answered(500)],
    ['is busy', say('HTTP/1.1 429 No\r\ncontent-length: 0\r\n\r\n'), answered(429)],
    [
      'is busy for no time that can be read',
      say('HTTP/1.1 503 No\r\nretry-after: soon\r\ncontent-length: 0\r\n\r\n'),
      answered(503),
    ],
    [
      'is busy until the year 2100',
      say('HTTP/1.1 429 No\r\nretry-after: Fri, 31 Dec 2100 00:00:00 GMT\r\ncontent-length: 0\r\n\r\n'),
      { ...answered(429), waitMs: 24 * hour },
    ],
  ])('%s', async (_, answer, expected) => {
    expect(await outcomeAt(await receiver(answer))).toMatchObject(expected);
  });

  test('is not there cannot be reached, and one of a private network is not asked', async () => {
    expect(await outcomeAt('http://127.0.0.1:9/hook')).toMatchObject(noConnection);
    const refused = { failure: 'address refused', isUnreached: true, waitMs: null };
    expect(await outcomeAt('https://10.0.0.1/hook')).toMatchObject(refused);
  });
});

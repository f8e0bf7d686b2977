import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import {
  checkedName,
  checkedUrl,
  createGuardedClient,
  type GuardedClient,
  type OutgoingPolicy,
} from '../../../integrations/guarded-client.ts';

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** A receiver on loopback. `connections` counts the sockets it has been given. */
async function receiver(answer: RequestListener) {
  const server = createServer(answer);
  const standing = { connections: 0 };
  server.on('connection', () => {
    standing.connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { standing, port, url: `http://127.0.0.1:${port}/hook` };
}

function client(policy: OutgoingPolicy = { allowedHosts: ['127.0.0.1'] }): GuardedClient {
  const opened = createGuardedClient(policy);
  closing.push(() => opened.close());
  return opened;
}

const call = (url: string, more: { deadlineMs?: number; signal?: AbortSignal } = {}) => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"a":1}'),
  deadlineMs: 10_000,
  ...more,
});
const closed: OutgoingPolicy = { allowedHosts: [] };

describe('a URL', () => {
  test.each([
    ['http://example.com/', 'must be an https address'],
    ['ftp://example.com/', 'must be an https address'],
    ['//example.com', 'must be an https address'],
    ['', 'must be an https address'],
    ['https://u@example.com/', 'must not carry credentials'],
    ['https://:p@example.com/', 'must not carry credentials'],
    ['https://example.com:22/', 'must have port 443'],
    ['https://example.com:80/', 'must have port 443'],
    ['https://example.com:1023/', 'must have port 443'],
    ['https://[::ffff:7f00:1]/', 'not public'],
    ['https://[::ffff:10.0.0.1]/', 'not public'],
    ['https://2130706433/', 'not public'],
    ['https://0x7f.1/', 'not public'],
    ['https://0177.0.0.1/', 'not public'],
    ['https://127.1/', 'not public'],
    ['https://①②⑦.0.0.1/', 'not public'],
    ['https://127。0。0。1/', 'not public'],
    ['https://[64:ff9b::7f00:1]/', 'not public'],
    ['https://169.254.169.254/latest/meta-data', 'not public'],
  ])('%s is refused', (url, reason) => {
    expect(() => checkedUrl(url, closed)).toThrow(reason);
  });

  test.each(['https://example.com', 'https://example.com:8443/a?b=c', 'https://8.8.8.8/', 'https://[2606:4700::1]/'])(
    '%s is let through',
    (url) => expect(checkedUrl(url, closed).protocol).toBe('https:'),
  );
});

describe('a name', () => {
  const leadingTo = (...addresses: string[]): OutgoingPolicy => ({
    allowedHosts: [],
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
  const url = new URL('https://hooks.example.com/');

  test('is let through when all its addresses are public', async () => {
    await expect(checkedName(url, leadingTo('8.8.8.8', '2606:4700::1'))).resolves.toBeUndefined();
  });

  test('is refused when one of several is private, and when it has none', async () => {
    await expect(checkedName(url, leadingTo('8.8.8.8', '10.0.0.1'))).rejects.toThrow('not public');
    await expect(checkedName(url, leadingTo())).rejects.toThrow('not known');
  });

  test('that changes its address after it was looked at is refused when the connection is made', async () => {
    const { standing, port } = await receiver((_, response) => response.end());
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const policy: OutgoingPolicy = {
      allowedHosts: [],
      resolve: async () => (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
    };
    const rebound = `https://hooks.example.com:${port}/`;
    await checkedName(checkedUrl(rebound, policy), policy);
    await expect(client(policy).post(call(rebound))).rejects.toThrow('address refused');
    expect(standing.connections).toBe(0);
  });

  test('that is not known is no connection, which may come back', async () => {
    await expect(client(leadingTo()).post(call(url.href))).rejects.toThrow('no connection');
  });
});

describe('a call', () => {
  test.each(['https://127.0.0.1:8443/', 'https://[::1]:8443/', 'http://127.0.0.1/', 'https://u:p@example.com/'])(
    'to %s connects to nothing',
    async (url) => {
      await expect(client(closed).post(call(url))).rejects.toThrow(/not public|https|credentials|address refused/);
    },
  );

  test('keeps its connection for those that follow', async () => {
    const { standing, url } = await receiver((request, response) =>
      request.resume().on('end', () => response.end('ok')),
    );
    const kept = client();
    for (let n = 0; n < 20; n += 1) expect(await kept.post(call(url))).toMatchObject({ status: 200 });
    // A call may begin before the connection of the one before it is free again.
    expect(standing.connections).toBeLessThanOrEqual(2);
  });

  test('says what the answer asks for', async () => {
    const { url } = await receiver(
      (_, response) => void response.writeHead(429, { 'retry-after': '120' }).end('later'),
    );
    const beginning = Buffer.from('later');
    expect(await client().post(call(url))).toEqual({ status: 429, retryAfter: '120', beginning });
  });

  test('reads 4 KiB of the answer and no more', async () => {
    const { url } = await receiver((_, response) => void response.end(Buffer.alloc(100_000, 'a')));
    const { beginning } = await client().post(call(url));
    expect(Buffer.from(beginning).toString()).toBe('a'.repeat(4_096));
  });

  test('has at most eight connections', async () => {
    const waiting: (() => void)[] = [];
    const { standing, url } = await receiver((_, response) => waiting.push(() => response.end()));
    const busy = client();
    const calls = Array.from({ length: 20 }, () => busy.post(call(url)));
    await expect.poll(() => waiting.length).toBe(8);
    const answering = setInterval(() => waiting.shift()?.(), 1);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(Array(20).fill(200));
    clearInterval(answering);
    expect(standing.connections).toBe(8);
  });

  test('answers a redirect as it is, and does not follow it', async () => {
    const inner = await receiver((_, response) => response.end());
    const { url } = await receiver((_, response) => response.writeHead(307, { location: inner.url }).end());
    expect(await client().post(call(url))).toMatchObject({ status: 307 });
    expect(inner.standing.connections).toBe(0);
  });

  test('ends at its deadline although the headers of the answer come byte by byte', async () => {
    const { url } = await receiver(({ socket }) => {
      const head = 'HTTP/1.1 200 OK\r\nx-long: '.split('');
      const dripping = setInterval(() => socket.write(head.shift() ?? 'x'), 20);
      socket.on('close', () => clearInterval(dripping)).on('error', () => undefined);
    });
    await expect(client().post(call(url, { deadlineMs: 300 }))).rejects.toThrow('no answer in time');
  });

  test('to a receiver that takes a connection and says nothing ends at its deadline', async () => {
    const { url } = await receiver(() => undefined);
    await expect(client().post(call(url, { deadlineMs: 200 }))).rejects.toThrow('no answer in time');
  });

  test.each([
    ['endless', 200],
    ['slow', 201],
    ['torn', 202],
  ])('has its status from an answer that is %s', async (kind, status) => {
    let sent = 0;
    const ended = Promise.withResolvers<void>();
    const { url } = await receiver((_, response) => {
      response.on('close', ended.resolve).on('error', () => undefined);
      response.writeHead(status, kind === 'torn' ? { 'content-length': '100' } : {}).flushHeaders();
      if (kind === 'torn') response.write('abc', () => response.destroy());
      if (kind === 'slow') response.write('a');
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      if (kind === 'endless') response.on('drain', more) && more();
    });
    expect(await client().post(call(url))).toMatchObject({ status });
    await ended.promise;
    // What the kernel buffers, but never all of an answer that does not end.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('ends when it is told to', async () => {
    const asked = Promise.withResolvers<void>();
    const { url } = await receiver(() => asked.resolve());
    const ending = new AbortController();
    const posting = client().post(call(url, { signal: ending.signal }));
    await asked.promise;
    ending.abort();
    await expect(posting).rejects.toThrow('call ended');
  });

  test('uses no proxy of the environment', async () => {
    const proxy = await receiver((_, response) => response.end());
    const { url } = await receiver((_, response) => response.writeHead(204).end());
    process.env.HTTP_PROXY = proxy.url;
    try {
      expect(await client().post(call(url))).toMatchObject({ status: 204 });
    } finally {
      delete process.env.HTTP_PROXY;
    }
    expect(proxy.standing.connections).toBe(0);
  });
});

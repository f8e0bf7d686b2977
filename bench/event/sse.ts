import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { compare, percentile } from '../measure.ts';
import { type BenchServer, startBenchServer } from '../server.ts';
import type { ReadersTask } from './sse-readers.ts';

const readers = 500;
/** A key may have 20 streams. */
const keys = readers / 20;
const requests = 1_000;
/** Number of requests of which one changes something, and so is an event to every reader. */
const readsAChange = 5;
const askEveryMs = 5;
const patienceMs = 30_000;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/**
 * The 99th percentile of a steady client's requests, a fifth of which write an event, with 500 readers of the stream attached against the same
 * without them, in milliseconds. The readers are a process of their own. Fails unless each of them had each event. design: people-and-events §B 29
 */
export async function run(): Promise<void> {
  const server = await startBenchServer();
  try {
    const shown = await keysOf(server);
    let changes = 0;
    const measure = async () => {
      const { p99, written } = await steadyClient(server);
      changes = written;
      return p99;
    };
    await compare({
      bench: 'sse',
      pairs: 9,
      reference: measure,
      product: async () => {
        const attached = await attachReaders(server, shown);
        const p99 = await measure();
        await attached.expectAll(changes);
        await attached.detach();
        return p99;
      },
    });
  } finally {
    agent.destroy();
    await server.stop();
  }
}

async function keysOf(server: BenchServer): Promise<string[]> {
  const made: string[] = [];
  for (let index = 0; index < keys; index += 1) {
    const body = { name: `Reader ${index}`, type: 'private_key' };
    const { api_key } = JSON.parse(await send(server, 'POST', '/v1/secrets/api/keys', body)) as { api_key: string };
    made.push(api_key);
  }
  return made;
}

async function attachReaders(server: BenchServer, shown: string[]) {
  const child = fork(new URL('./sse-readers.ts', import.meta.url));
  const ask = async (task: ReadersTask): Promise<number> => {
    child.send(task);
    const [events] = (await once(child, 'message')) as [number];
    return events;
  };
  await ask({ kind: 'attach', port: server.port, keys: shown, readers });
  return {
    async expectAll(changes: number): Promise<void> {
      const due = changes * readers;
      const until = performance.now() + patienceMs;
      let had = await ask({ kind: 'count' });
      while (had < due && performance.now() < until) {
        await delay(100);
        had = await ask({ kind: 'count' });
      }
      if (had !== due) throw new Error(`${readers} readers had ${had} events of ${due}`);
    },
    async detach(): Promise<void> {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Requests one after another, each until the last byte of its answer is there. */
async function steadyClient(server: BenchServer): Promise<{ p99: number; written: number }> {
  const taken: number[] = [];
  const { id } = JSON.parse(await send(server, 'POST', '/v1/customers', customer())) as { id: string };
  let written = 1;
  for (let turn = 0; turn < requests; turn += 1) {
    const began = performance.now();
    if (turn % readsAChange === 0) {
      await send(server, 'POST', '/v1/customers', customer());
      written += 1;
    } else await send(server, 'GET', `/v1/customers/${id}`);
    taken.push(performance.now() - began);
    await delay(askEveryMs);
  }
  return { p99: percentile(taken, 0.99), written };
}

let count = 0;
function customer() {
  count += 1;
  return { external_id: `somebody-${process.pid}-${count}`, name: 'Somebody' };
}

function send(server: BenchServer, method: string, path: string, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': server.sandbox.apiKey,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        if (Number(response.statusCode) < 300) resolve(text);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

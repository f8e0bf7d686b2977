import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inTransaction } from '../../db/transaction.ts';
import { deleteEndpoint } from '../../services/event/webhook/endpoint.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { emit, register, type Sink, startSending, startSink } from './webhook-bench.ts';

/** Receivers that answer; with the one that hangs an environment has as many as it may have. */
const answering = 19;
const events = 300;
const objects = 100;
/** Requests that one receiver is sent at a time: with these under way nothing more can be sent to it. */
const atOnce = 8;

/**
 * Deliveries a second to 19 receivers on loopback beside a twentieth that takes connections and never answers, against the same 19 without it.
 * design: people-and-events §A 12
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const sink = await startSink();
    await startSending(platform);
    for (let n = 0; n < answering; n += 1) await register(platform, `${sink.url}?${n}`);
    await compare({
      bench: 'webhook-hang',
      pairs: 9,
      reference: () => rateToAnswering(platform, sink),
      async product() {
        const hanging = await startHanging();
        const { id } = await register(platform, hanging.url);
        await deliver(platform, sink, atOnce);
        await hanging.isBusy;
        const rate = await rateToAnswering(platform, sink);
        await inTransaction(platform.database, platform.scope, (tx) => deleteEndpoint(tx, id));
        hanging.close();
        return rate;
      },
    });
    sink.close();
  });
}

function rateToAnswering(platform: BenchPlatform, sink: Sink): Promise<number> {
  return rateOf(events * answering, () => deliver(platform, sink, events));
}

/** Commits events at once; resolves when each receiver that answers has had all of them. */
async function deliver(platform: BenchPlatform, sink: Sink, count: number): Promise<void> {
  const received = sink.receives(count * answering);
  await emit(
    platform,
    Array.from({ length: count }, (_, n) => `hang-${n % objects}`),
  );
  await received;
}

/** A receiver that reads requests and never answers. `isBusy` resolves when as many as it gets are under way. */
async function startHanging() {
  const { promise: isBusy, resolve } = Promise.withResolvers<void>();
  let under = 0;
  const server = createServer((request) => {
    request.resume();
    under += 1;
    if (under === atOnce) resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    isBusy,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

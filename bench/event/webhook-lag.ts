import { setTimeout as delay } from 'node:timers/promises';
import { inSqlTransaction } from '../../db/transaction.ts';
import { percentile } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { emit, register, type Sink, startSending, startSink } from './webhook-bench.ts';

const perSecond = 200;
const seconds = 15;
const objects = 50;

/**
 * Milliseconds from the commit of an event to its receipt, at 200 events a second in a transaction each: alone, and beside a transaction that
 * stays open for as long. design: people-and-events §A 5, B 18
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const sink = await startSink();
    await startSending(platform);
    await register(platform, sink.url);
    await lagsOf(platform, sink, 2);
    say('alone', await lagsOf(platform, sink, seconds));
    const ending = Promise.withResolvers<void>();
    const open = inSqlTransaction(platform.database, platform.scope, async (tx) => {
      await tx.rows('select pg_current_xact_id()');
      await ending.promise;
    });
    say('beside a transaction that stays open', await lagsOf(platform, sink, seconds));
    ending.resolve();
    await open;
    sink.close();
  });
}

function say(when: string, lags: readonly number[]): void {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(percentile(lags, share)));
  console.log(JSON.stringify({ bench: 'webhook-lag', when, deliveries: lags.length, p50, p99, max }));
}

/** Lags of events that are emitted at a steady rate for so long. */
async function lagsOf(platform: BenchPlatform, sink: Sink, forSeconds: number): Promise<number[]> {
  const count = perSecond * forSeconds;
  const committed = new Map<string, number[]>();
  const lags: number[] = [];
  sink.onRequest(({ 'webhook-object': object }) => {
    // Events of an object come in order, so the first commit that is left is that of this one.
    const at = committed.get(String(object))?.shift();
    lags.push(Math.max(0, performance.now() - (at ?? performance.now())));
  });
  const received = sink.receives(count);
  const beganAt = performance.now();
  const emitting: Promise<void>[] = [];
  const ends = Array.from({ length: objects }, () => Promise.resolve());
  for (let n = 0; n < count; n += 1) {
    const waitMs = beganAt + (n * 1000) / perSecond - performance.now();
    if (waitMs > 1) await delay(waitMs);
    const object = `lag-${n % objects}`;
    const emitted = (ends[n % objects] ?? Promise.resolve()).then(async () => {
      await emit(platform, [object]);
      committed.set(object, [...(committed.get(object) ?? []), performance.now()]);
    });
    ends[n % objects] = emitted;
    emitting.push(emitted);
  }
  await Promise.all([...emitting, received]);
  return lags;
}

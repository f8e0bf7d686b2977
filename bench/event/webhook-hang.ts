import { compare, rateOf } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';
import { emit, register, startSending, startSink } from './webhook-bench.ts';

const answering = 19;
const events = 400;
const objects = 40;

/**
 * Deliveries a second to 19 receivers that answer, beside one that never does, against the 19 alone; each on a platform of its own.
 * design: people-and-events §B 20
 */
export async function run(): Promise<void> {
  await withSinks(false, (alone) =>
    withSinks(true, async (beside) => {
      await compare({ bench: 'webhook-hang', reference: alone, product: beside });
    }),
  );
}

async function withSinks(withHanging: boolean, work: (rate: () => Promise<number>) => Promise<void>): Promise<void> {
  await withBenchPlatform(async (platform) => {
    const sinks = await Promise.all(Array.from({ length: answering }, () => startSink()));
    const hanging = withHanging ? [await startSink({ hangs: true })] : [];
    await startSending(platform);
    for (const { url } of [...sinks, ...hanging]) await register(platform, url);
    await work(() => rate(platform, sinks));
    for (const sink of [...sinks, ...hanging]) sink.close();
  });
}

async function rate(platform: BenchPlatform, sinks: readonly { receives(count: number): Promise<void> }[]) {
  const all = Array.from({ length: events }, (_, n) => `cust_${n % objects}`);
  const received = sinks.map((sink) => sink.receives(events));
  await emit(platform, all);
  return rateOf(events * sinks.length, async () => {
    await Promise.all(received);
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './measure.ts';
import type { BenchPlatform } from './platform.ts';

const askEveryMs = 10;

/** How long each request of a steady client took while `work` was going on, in milliseconds. */
export async function latencies({ api }: BenchPlatform, work: () => Promise<unknown>): Promise<number[]> {
  const { items } = await api<{ items: { id: string }[] }>('GET', '/subscriptions?limit=100');
  const taken: number[] = [];
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  for (let turn = 0; !isDone; turn += 1) {
    const began = performance.now();
    if (turn % 5 === 0) await api('POST', '/customers', { external_id: `somebody-${began}`, name: 'Somebody' });
    else await api('GET', `/subscriptions/${items[turn % items.length]?.id}`);
    taken.push(performance.now() - began);
    await delay(askEveryMs);
  }
  await working;
  return taken;
}

/** The middle and the 99th percentile, rounded. */
export function inMs(latencies: readonly number[]): { requests: number; p50: number; p99: number } {
  const at = (share: number) => Math.round(percentile(latencies, share));
  return { requests: latencies.length, p50: at(0.5), p99: at(0.99) };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { DemoClient } from './client.ts';

/** How far a step is: reported often, the last time with `done` equal to `of`. */
export interface DemoProgress {
  step: string;
  done: number;
  of: number;
  unit: string;
}

/** Tells how much of a step is done. */
export type Report = (done: number) => void;

const pollMs = 250;
const standstillMs = 5 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

/** Runs the steps of a demo, each of which tells how far it is. */
export function reportedSteps(onProgress: ((progress: DemoProgress) => void) | undefined) {
  return async <Result>(
    name: string,
    of: number,
    unit: string,
    work: (report: Report) => Promise<Result>,
  ): Promise<Result> => {
    let reported = -1;
    const report = (done: number) => {
      if (done > reported) onProgress?.({ step: name, done, of, unit });
      reported = Math.max(reported, done);
    };
    report(0);
    const result = await work(report);
    report(of);
    return result;
  };
}

/** Whole days from one instant to another. */
export function daysBetween(from: string, to: string): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / dayMs);
}

/** Advances the clock to its end. Throws when it stands still for too long, which an object that cannot go on makes it do. */
export async function advance(
  api: DemoClient,
  { id: clockId, from, to }: { id: string; from: string; to: string },
  report: Report,
): Promise<void> {
  await api.send('POST', `/test-clocks/${clockId}/advance`, { to });
  let last = { time: from, seenMs: performance.now() };
  while (performance.now() - last.seenMs < standstillMs) {
    const clock = await api.send<{ clock_status: string; frozen_time: string }>('GET', `/test-clocks/${clockId}`);
    if (clock.clock_status === 'ready') return;
    if (clock.frozen_time !== last.time) last = { time: clock.frozen_time, seenMs: performance.now() };
    report(daysBetween(from, clock.frozen_time));
    await delay(pollMs);
  }
  throw new Error(
    `the clock ${clockId} stands still at ${last.time}: look in the Temporal UI for a workflow that is BlockedOn`,
  );
}

/** All items of a list, page by page. `path` has a query already. */
export async function readAll<Item>(api: DemoClient, path: string): Promise<Item[]> {
  const limit = 1_000;
  const items: Item[] = [];
  for (;;) {
    const page = await api.send<{ items: Item[]; pagination: { total: number } }>(
      'GET',
      `${path}&limit=${limit}&offset=${items.length}`,
    );
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= page.pagination.total) return items;
  }
}

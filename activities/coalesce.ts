import { setTimeout as delay } from 'node:timers/promises';

/** What a set-based step works on: requests of one environment, answered in the order asked. */
export interface CoalescedStep<Request, Result> {
  /** Requests with the same key go into one transaction. */
  groupOf(request: Request): string;
  run(requests: readonly Request[]): Promise<Result[]>;
  maxRequests: number;
}

interface Waiting<Request, Result> {
  request: Request;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** In a crowd a set is complete when nobody has joined it for so long, or after so long in all. */
const quietMs = 20;
const longestGatheringMs = 100;

/**
 * Collects calls that arrive while an earlier set is being worked on and runs them as one set, so that a thousand closes at
 * one instant are a few transactions; a lonely call waits for nothing, one in a crowd for those behind it, because a set costs
 * nearly the same whatever its size. When a set fails each of its calls is run alone, so that one bad object fails only itself.
 * design: usage.md Closing and afterwards
 */
export function coalesce<Request, Result>(step: CoalescedStep<Request, Result>): (request: Request) => Promise<Result> {
  const queues = new Map<string, Waiting<Request, Result>[]>();
  const running = new Set<string>();

  async function drain(group: string): Promise<void> {
    running.add(group);
    // Calls made in the same turn of the event loop, and those that the worker delivers with them, belong together.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const set = queues.get(group)?.splice(0, step.maxRequests) ?? [];
      if (set.length === 0) break;
      await runSet(set);
      await gather(group);
    }
    running.delete(group);
    queues.delete(group);
  }

  /** Waits for those behind the ones who came during the last set. */
  async function gather(group: string): Promise<void> {
    const queue = queues.get(group) ?? [];
    const endMs = performance.now() + longestGatheringMs;
    for (let known = 0; queue.length > known && queue.length < step.maxRequests && performance.now() < endMs; ) {
      known = queue.length;
      await delay(quietMs);
    }
  }

  async function runSet(set: Waiting<Request, Result>[]): Promise<void> {
    try {
      const results = await step.run(set.map((waiting) => waiting.request));
      for (const [index, waiting] of set.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      const [only] = set;
      if (only && set.length === 1) return only.reject(error);
      for (const waiting of set) await runSet([waiting]);
    }
  }

  return (request) =>
    new Promise<Result>((resolve, reject) => {
      const group = step.groupOf(request);
      const queue = queues.get(group) ?? [];
      queue.push({ request, resolve, reject });
      queues.set(group, queue);
      if (!running.has(group)) void drain(group);
    });
}

import { setTimeout as delay } from 'node:timers/promises';

/** What a set-based step works on: requests of one environment, answered in the order asked. */
export interface CoalescedStep<Request, Result> {
  /** Requests with the same key go into one transaction. */
  groupOf(request: Request): string;
  run(requests: readonly Request[]): Promise<Result[]>;
  /** False where a set begins as soon as the one before it has ended, because somebody waits for the answer. Default true. */
  gathers?: boolean;
}

interface Waiting<Request, Result> {
  request: Request;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** No set has more calls: with larger ones nothing else is done while a crowd waits for its one transaction. */
const largestSet = 30;
/** A set is complete when nobody has joined it for so long, or after so long in all. */
const quietMs = 20;
const longestGatheringMs = 150;
/** Where sets have so many calls, the next one waits for those behind it: what a set costs is shared. */
const crowdSize = 8;
const crowdLastsMs = 2_000;

/**
 * Collects calls that arrive while an earlier set is being worked on, or soon after one of several, and runs them as one set,
 * so that a thousand closes at one instant are a few dozen transactions; a lonely call waits for nothing, one in a crowd for those
 * behind it, because a set costs nearly the same whatever its size. When a set fails each of its calls is run alone, so that
 * one bad object fails only itself.
 * design: usage.md Closing and afterwards
 */
export function coalesce<Request, Result>(step: CoalescedStep<Request, Result>): (request: Request) => Promise<Result> {
  const { gathers = true } = step;
  const queues = new Map<string, Waiting<Request, Result>[]>();
  const crowdedAt = new Map<string, number>();

  async function drain(group: string, queue: Waiting<Request, Result>[]): Promise<void> {
    // Calls made in the same turn of the event loop, and those that the worker delivers with them, belong together.
    await nextTurn();
    if (isCrowded(group)) await gather(queue);
    while (queue.length > 0) {
      const set = queue.splice(0, largestSet);
      await runSet(set);
      if (gathers && set.length >= crowdSize) crowdedAt.set(group, performance.now());
      if (queue.length > 0) await (gathers ? gather(queue) : nextTurn());
    }
    queues.delete(group);
  }

  function isCrowded(group: string): boolean {
    const lasts = performance.now() - (crowdedAt.get(group) ?? Number.NEGATIVE_INFINITY) < crowdLastsMs;
    if (!lasts) crowdedAt.delete(group);
    return lasts;
  }

  /** Waits for those behind the ones who are there. */
  async function gather(queue: readonly unknown[]): Promise<void> {
    const endMs = performance.now() + longestGatheringMs;
    for (let known = 0; queue.length > known && queue.length < largestSet && performance.now() < endMs; ) {
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
      const queue = queues.get(group);
      if (queue) queue.push({ request, resolve, reject });
      else {
        const first = [{ request, resolve, reject }];
        queues.set(group, first);
        void drain(group, first);
      }
    });
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

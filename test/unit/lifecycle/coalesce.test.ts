import { expect, test, vi } from 'vitest';
import { coalesce } from '../../../db/coalesce.ts';

/** A step that notes its sets and ends each when told to. */
function gatedStep(options: { gathers?: boolean } = {}) {
  const sets: number[][] = [];
  const ends: (() => void)[] = [];
  const call = coalesce<number, string>({
    ...options,
    groupOf: (request) => (request < 100 ? 'a' : 'b'),
    async run(requests) {
      sets.push([...requests]);
      await new Promise<void>((end) => ends.push(end));
      if (requests.includes(13)) throw new Error('a bad one');
      return requests.map((request) => `did ${request}`);
    },
  });
  /** Ends the sets that run until every call is answered. */
  const endAll = async <T>(calls: Promise<T>[]) => {
    const outcome = Promise.allSettled(calls);
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const end of ends.splice(0)) end();
      await new Promise((next) => setImmediate(next));
    }
    return outcome;
  };
  return { sets, call, endAll };
}

const started = () => new Promise((next) => setImmediate(() => setImmediate(next)));

test('calls of one turn are one set, answered each its own', async () => {
  const { sets, call, endAll } = gatedStep();
  const answers = await endAll([1, 2, 3].map(call));
  expect(sets).toEqual([[1, 2, 3]]);
  expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value)).toEqual(['did 1', 'did 2', 'did 3']);
});

test('calls that come while a set runs are the next set', async () => {
  const { sets, call, endAll } = gatedStep();
  const first = call(1);
  await started();
  const later = [2, 3, 4].map(call);
  await endAll([first, ...later]);
  expect(sets).toEqual([[1], [2, 3, 4]]);
});

test('those who come while others gather join them', async () => {
  const { sets, call, endAll } = gatedStep();
  const first = call(1);
  await started();
  const second = call(2);
  const third = endAll([first]).then(() => call(3));
  await endAll([second, third]);
  expect(sets).toEqual([[1], [2, 3]]);
});

test('who comes soon after a crowd waits for those behind, another group does not', async () => {
  const { sets, call, endAll } = gatedStep();
  const crowd = [1, 2, 3, 4, 5, 6, 7, 8];
  await endAll(crowd.map(call));
  const first = call(20);
  await started();
  expect(sets).toEqual([crowd]);
  await endAll([first, call(21), call(101)]);
  expect(sets.slice(1)).toEqual([[101], [20, 21]]);
});

test('groups do not wait for each other', async () => {
  const { sets, call, endAll } = gatedStep();
  const calls = [call(1), call(101)];
  await started();
  expect(sets).toEqual([[1], [101]]);
  await endAll(calls);
});

test('a call that fails fails by itself', async () => {
  const { sets, call, endAll } = gatedStep();
  const answers = await endAll([12, 13, 14].map(call));
  expect(sets).toEqual([[12, 13, 14], [12], [13], [14]]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a crowd is divided into sets of thirty at most', async () => {
  const { sets, call, endAll } = gatedStep();
  await endAll(Array.from({ length: 70 }, (_, index) => call(index)));
  expect(sets.slice(0, 1).map(({ length }) => length)).toEqual([30]);
  expect(Math.max(...sets.map(({ length }) => length))).toBe(30);
});

test('one that gathers nobody waits for no clock, even behind a crowd', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const { sets, call, endAll } = gatedStep({ gathers: false });
    const crowd = Array.from({ length: 10 }, (_, index) => call(index + 20));
    await started();
    await endAll([...crowd, call(1), call(2)]);
    await endAll([call(3)]);
    expect(sets.map((set) => set.length)).toEqual([10, 2, 1]);
  } finally {
    vi.useRealTimers();
  }
});

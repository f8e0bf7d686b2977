import { expect, test } from 'vitest';
import { Reception } from '../../../activities/event/webhook/reception.ts';

const hour = 3_600_000;
const startMs = Date.parse('2026-01-31T12:00:00Z');
const nothingYet = {
  receivedAt: null,
  failedAt: null,
  failure: null,
  silentSince: null,
  failingSince: null,
  failures: 0,
};

/** Reception after attempts at these hours; those of `received` were receipts. */
function after(hours: readonly number[], received: readonly number[] = [], moved: readonly number[] = []): Reception {
  const reception = new Reception(nothingYet);
  for (const at of hours) {
    if (moved.includes(at)) reception.restart();
    reception.learn(received.includes(at) ? null : 'answered 500', startMs + at * hour);
  }
  return reception;
}
const every12 = Array.from({ length: 11 }, (_, n) => n * 12);

test.each([
  ['ten attempts or more fail over five days', every12, [], 'failing'],
  ['a hundred attempts fail within five days', Array.from({ length: 100 }, (_, n) => n), [], null],
  ['nine attempts fail over five days', [0, 20, 40, 60, 80, 100, 120, 140, 160], [], null],
  ['one of them is a receipt', every12, [60], null],
  ['the last of them is a receipt', every12, [120], null],
  [
    'the last receipt is five days old and ten attempts fail within a day',
    [0, ...Array.from({ length: 10 }, (_, n) => 130 + n)],
    [0],
    null,
  ],
  [
    'the last receipt is five days old and ten attempts fail over a day',
    [0, ...Array.from({ length: 10 }, (_, n) => 130 + n * 3)],
    [0],
    'failing',
  ],
] as const)('when %s', (_, hours, received, expected) => {
  expect(after(hours, received).reason).toBe(expected);
});

test('an endpoint that moved is judged by its new address', () => {
  expect(after(every12, [], [108]).reason).toBeNull();
});

test('410 is a reason at once, which another event that is received meanwhile does not take away', () => {
  const reception = new Reception(nothingYet);
  reception.learn('answered 410', startMs);
  reception.learn(null, startMs + 1);
  expect(reception.reason).toBe('gone');
});

test('a sender goes on with the count of the one before it', () => {
  const first = after(every12.slice(0, 6));
  const second = new Reception(first.written);
  expect(second.written).toEqual(first.written);
  for (const at of every12.slice(6)) second.learn('no answer in time', startMs + at * hour);
  expect(second.reason).toBe('failing');
  expect(second.written).toEqual({
    ...nothingYet,
    failedAt: '2026-02-05T12:00:00.000Z',
    failure: 'no answer in time',
    silentSince: '2026-01-31T12:00:00.000Z',
    failingSince: '2026-01-31T12:00:00.000Z',
    failures: 11,
  });
});

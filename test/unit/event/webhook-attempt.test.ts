import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../activities/event/webhook/attempt.ts';
import { lineAfter, nextAttemptAt, retrySchedule } from '../../../activities/event/webhook/schedule.ts';

const nowMs = Date.parse('2026-01-31T12:00:00Z');
const hour = 3_600_000;

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['86400', 24 * hour],
  ['999999999', 24 * hour],
  ['Sat, 31 Jan 2026 12:10:00 GMT', 600_000],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  ['Fri, 31 Dec 2100 00:00:00 GMT', 24 * hour],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['2026-01-31T12:10:00Z', null],
  ['', null],
])('a retry-after of "%s" asks for %s milliseconds', (header, expected) => {
  expect(retryAfterMs(header, nowMs)).toBe(expected);
});

test('the pauses between the ten attempts of an event add up to 75 hours and 35 minutes, each a fifth shorter or longer at most', () => {
  const pauses = retrySchedule.map((_, index) => {
    const at = (random: number) =>
      Date.parse(nextAttemptAt(retrySchedule, index + 1, nowMs, () => random) ?? '') - nowMs;
    expect(at(0)).toBe(retrySchedule[index]! * 0.8);
    expect(at(1)).toBe(retrySchedule[index]! * 1.2);
    return at(0.5);
  });
  expect(pauses).toHaveLength(9);
  expect(pauses.reduce((sum, pause) => sum + pause)).toBe(75 * hour + 35 * 60_000 + 5_000);
  expect(nextAttemptAt(retrySchedule, 10, nowMs, () => 0.5)).toBeNull();
});

test('jitter never shortens what a receiver asked for', () => {
  const event = { entityId: 'cust_1', sequence: 3 };
  const failed = {
    attempts: 1,
    failure: 'answered 429',
    known: undefined,
    schedule: retrySchedule,
    onExhausted: 'skip',
  };
  const { nextAt } = lineAfter(event, { ...failed, waitMs: hour });
  expect(Date.parse(nextAt!)).toBeGreaterThanOrEqual(Date.now() + hour - 60_000);
});

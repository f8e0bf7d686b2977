import { expect, test } from 'vitest';
import { timerSpread } from '../../../services/lifecycle/timer-spread.ts';

const windowMs = 60_000;
const delays = Array.from({ length: 1_000 }, (_, index) => timerSpread(`subs_${index}`, windowMs));

test('timers of one instant are spread over the whole window and never beyond it', () => {
  expect(delays.every((delay) => delay >= 0 && delay < windowMs)).toBe(true);
  const perTenth = Map.groupBy(delays, (delay) => Math.floor(delay / (windowMs / 10)));
  expect(perTenth.size).toBe(10);
  expect([...perTenth.values()].every((tenth) => tenth.length > 50)).toBe(true);
});

test('an object has the same delay every time, and none without a window', () => {
  expect(timerSpread('subs_1', windowMs)).toBe(delays[1]);
  expect(timerSpread('subs_1', 0)).toBe(0);
});

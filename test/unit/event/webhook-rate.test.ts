import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rate } from '../../../activities/event/webhook/rate.ts';

test('so many requests as the limit begin within any second at most, and no request waits without need', () => {
  const steps = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, pauses) => {
      const rate = new Rate();
      const begun: number[] = [];
      let nowMs = 0;
      for (const pauseMs of pauses) {
        nowMs += pauseMs;
        const recent = () => begun.filter((beganMs) => nowMs - beganMs < 1_000).length;
        const isFree = recent() < limit;
        const waitMs = rate.take(limit, nowMs);
        expect(waitMs === 0).toBe(isFree);
        if (!isFree) {
          nowMs += waitMs;
          expect(rate.take(limit, nowMs)).toBe(0);
        }
        begun.push(nowMs);
        expect(recent()).toBeLessThanOrEqual(limit);
      }
    }),
  );
});

test('without a limit nothing waits, and a lower limit holds from its change on', () => {
  const rate = new Rate();
  for (let n = 0; n < 50; n += 1) expect(rate.take(null, 0)).toBe(0);
  for (let n = 0; n < 5; n += 1) expect(rate.take(5, 0)).toBe(0);
  expect(rate.take(5, 1)).toBe(999);
  expect(rate.take(2, 1)).toBe(999);
  expect(rate.take(6, 1)).toBe(0);
  expect(rate.take(1, 1)).toBe(1_000);
});

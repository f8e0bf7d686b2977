import { condition } from '@temporalio/workflow';

/** What an object waits by: real time for most, a test clock's time for customers on one. design: architecture §4 */
export interface Clock {
  /** What this object calls now. */
  present(): string;
  /** A test clock's time as last heard of; null for real time. Carried through continue-as-new. */
  readonly heardTime: string | null;
  /** Tells that the test clock shows `instant`; a clock never goes back. Real time ignores it. */
  hear(instant: string): void;
  /** Returns when `instant` is reached or `wake` holds. `summary` is shown on the timer in the Temporal UI. */
  waitUntil(instant: string | null, wake: () => boolean, summary: string): Promise<void>;
}

/** Real time, also where an object lives on a test clock: when people did something, as Temporal's own pages show it. */
export function realTime(): string {
  return new Date().toISOString();
}

/** The one place that waits for time. `spreadMs` delays timers of real time only; boundaries themselves stay exact. */
export function createClock(
  start: { testClockId: string | null; clockTime: string | null },
  spreadMs: () => number,
): Clock {
  return start.testClockId === null ? realClock(spreadMs) : testClock(start.clockTime);
}

function realClock(spreadMs: () => number): Clock {
  return {
    present: realTime,
    heardTime: null,
    hear: () => {},
    async waitUntil(instant, wake, summary) {
      if (instant === null) return condition(wake);
      const remainingMs = Date.parse(instant) + spreadMs() - Date.now();
      if (remainingMs > 0) await condition(wake, remainingMs, { summary });
    },
  };
}

function testClock(clockTime: string | null): Clock {
  let time = clockTime ?? '';
  return {
    present: () => time,
    get heardTime() {
      return time;
    },
    hear(instant) {
      if (instant > time) time = instant;
    },
    waitUntil: (instant, wake) => condition(() => wake() || (instant !== null && time >= instant)),
  };
}

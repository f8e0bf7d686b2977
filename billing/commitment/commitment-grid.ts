import type { Bucketing } from '../price/derivation.ts';
import type { Interval } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import { windowGrid } from '../time/window.ts';

/** Windows of three hours, the smallest that are listed one by one, in 366 days of an own annual period, doubled. */
const maxSegments = 2 * 366 * 8;

/**
 * Where the buckets of a meter begin that an interval touches, in order. They are what is topped up where
 * nothing was measured. spec: subscriptions-and-invoicing §2.7.4; catalogue-and-metering §7.2
 */
export function* bucketStarts(interval: Interval, { size, timezone, billingAnchor }: Bucketing): Generator<string> {
  const { segments, stepMs } = windowGrid(interval, { windowSize: size, timezone, billingAnchor }, maxSegments);
  const from = epochMs(interval.start);
  const until = epochMs(interval.end);
  for (const [index, segment] of segments.entries()) {
    const end = Math.min(segments[index + 1]?.from ?? until, until);
    for (let start = segment.from; start < end; start = followingStart(start, segment.origin, stepMs, end)) {
      const next = followingStart(start, segment.origin, stepMs, end);
      if (next > from) yield instantText(start);
    }
  }
}

function followingStart(start: number, origin: number, stepMs: number | null, end: number): number {
  if (stepMs === null) return end;
  return Math.min(origin + (Math.floor((start - origin) / stepMs) + 1) * stepMs, end);
}

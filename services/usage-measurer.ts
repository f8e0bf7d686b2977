import type { UsageAnswer } from '../billing/line/charge.ts';

/** Usage somebody gives instead of sending events. */
export interface GivenUsage {
  /** `values`: what events would carry. `windows`: what the meter measured in windows, each of which begins `at`. */
  kind: 'values' | 'windows';
  values: readonly GivenValue[];
  /** The time it is about, [start, end); null is from the first instant to the last one, included. */
  period: { start: string; end: string } | null;
  timezone: string;
  billingAnchor: string | null;
}

export interface GivenValue {
  at: string;
  /** A decimal; for distinct values any text; null where the meter only counts. */
  value: string | null;
  /** The value of the property a meter groups by; all values are one group where it is empty. */
  group: string;
}

/** How a meter measures; `bucketSize` is the price's own or the meter's, null where usage is priced as a whole. */
export interface MeasuringMeter {
  type: string;
  multiplier: string | null;
  bucketSize: string | null;
}

/** What a meter would answer over given usage, and over which time. Implemented by the usage engine. */
export type UsageMeasurer = (
  meter: MeasuringMeter,
  usage: GivenUsage,
) => { answer: UsageAnswer; period: { start: string; end: string } };

import type { AggregationType } from './meter.ts';
import type { SeriesWindow } from './series-window.ts';

/** A condition on a property by text form: one of the values. Several of them are ANDed, also on one key. */
export interface PropertyCondition {
  readonly key: string;
  readonly values: readonly string[];
}

/** How much of a meter was used in `[from, to)` by customers whose events are united. Instants as in `UsageQuestion`. */
export interface BreakdownQuestion {
  readonly key: string;
  readonly meterId: string;
  /** Absent: everybody. */
  readonly customerIds?: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Taken for `from` in the total, not in the windows, where the meter's `reset_usage` is NEVER. */
  readonly startOfHistory?: string;
  readonly conditions?: readonly PropertyCondition[];
}

/** Questions whose answers are taken apart alike. */
export interface BreakdownRequest {
  readonly questions: readonly BreakdownQuestion[];
  /** Windows that hold every question's interval, in order; none for totals only. */
  readonly windows: readonly SeriesWindow[];
  readonly bySource: boolean;
  readonly byProperties: readonly string[];
  /** Only events of these sources; an empty list takes all. */
  readonly sources: readonly string[];
  /** Answers greatest, latest and distinct values too, whatever the meter's type. */
  readonly everyMeasure: boolean;
}

/** One group of a question, whole or in one window. What an event does not say is the group of the empty text. */
export interface BreakdownRow {
  readonly key: string;
  readonly source: string | null;
  readonly properties: Readonly<Record<string, string>>;
  /** The window's natural start; null is the group's total over the whole interval. */
  readonly window: string | null;
  readonly type: AggregationType;
  /** The meter's aggregate, at most 15 decimals, never below zero. */
  readonly value: string;
  readonly eventCount: number;
  readonly greatest: string;
  readonly latest: string;
  readonly distinctCount: number;
}

/** Questions about usage that is measured by buckets of one grid, whatever the buckets of the meters. */
export interface BucketBreakdownRequest extends Omit<BreakdownRequest, 'windows' | 'everyMeasure'> {
  readonly bucketing: {
    readonly size: string;
    readonly timezone: string;
    readonly billingAnchor: string | null;
  };
}

/** What one bucket, or one group of the meter in it, measured of one group of a question. */
export interface BucketBreakdownRow {
  readonly key: string;
  readonly source: string | null;
  readonly properties: Readonly<Record<string, string>>;
  /** Where the bucket begins by itself. */
  readonly start: string;
  readonly value: string;
  readonly eventCount: number;
}

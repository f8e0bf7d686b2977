import type { Scope } from '../db/scope.ts';
import type { Sql } from '../db/transaction.ts';

/** A line's, or a meter's, usage over [from, to) by customers whose events are united. Instants are UTC with milliseconds. */
export interface UsagePartQuestion {
  key: string;
  meterId: string;
  /** Null: everybody's. */
  customerIds: readonly string[] | null;
  from: string;
  to: string;
  /** Where a running meter (`reset_usage` NEVER) begins to count. */
  startOfHistory: string | null;
  /** Null where the usage is one quantity. */
  bucketing: UsageBucketing | null;
  /** Conditions on properties, each a set of them; all must hold. */
  filters: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The grid of the buckets that usage is measured and priced by. spec: catalogue-and-metering §4.4 */
export interface UsageBucketing {
  size: string;
  timezone: string;
  billingAnchor: string | null;
}

/** How the answers are taken apart. */
export interface UsagePartition {
  /** The interval that holds those of all questions; windows are cut from it. */
  interval: { from: string; to: string };
  window: { size: string; timezone: string; billingAnchor: string | null } | null;
  bySource: boolean;
  byProperties: readonly string[];
  /** Only events of these sources; an empty list takes all. */
  sources: readonly string[];
  /** Tell which sources there were. */
  listSources: boolean;
}

/** What was used, and by how many events. */
export interface MeasuredUsage {
  usage: string;
  eventCount: number;
  /** Each bucket (and group of the meter), whose sum `usage` is, with where it begins by itself; null where it is one quantity. */
  buckets: { start: string; value: string }[] | null;
}

/** A window with events, by its natural start. */
export interface UsagePoint extends MeasuredUsage {
  timestamp: string;
}

/** A group of a question's usage. */
export interface UsagePart extends MeasuredUsage {
  /** Null unless grouped by source; the empty text stands for events without one. */
  source: string | null;
  /** Null unless asked for. */
  sources: string[] | null;
  properties: Readonly<Record<string, string>>;
  /** In order. Windows smaller than buckets are the buckets. */
  points: UsagePoint[];
}

/**
 * How analytics read usage: a bounded number of statements for any number of questions. A question that is not taken apart
 * by group has exactly one part; a grouped one has a part a group that has events. Implemented by the usage engine.
 */
export type UsagePartReader = (
  sql: Sql,
  scope: Scope,
  questions: readonly UsagePartQuestion[],
  partition: UsagePartition,
) => Promise<Map<string, UsagePart[]>>;

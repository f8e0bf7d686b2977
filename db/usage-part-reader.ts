import type { Scope } from './scope.ts';
import type { Sql } from './transaction.ts';

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
  /** Conditions on properties, each a set of them; all must hold. */
  filters: readonly Readonly<Record<string, readonly string[]>>[];
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

/** A group of a question's usage. */
export interface UsagePart {
  /** Null unless grouped by source; the empty text stands for events without one. */
  source: string | null;
  /** Null unless asked for. */
  sources: string[] | null;
  properties: Record<string, string>;
  usage: string;
  eventCount: number;
  /** Windows with events, in order, by their natural start. */
  points: { timestamp: string; usage: string; eventCount: number }[];
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

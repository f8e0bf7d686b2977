import type { GrantFolding } from '../billing/allowance/grant-usage.ts';
import type { UsageAnswer } from '../billing/line/charge.ts';
import type { Bucketing } from '../billing/price/derivation.ts';
import type { Scope } from '../db/scope.ts';
import type { Sql } from '../db/transaction.ts';

/** Usage of another customer that counts as well, from when it began to count until it ended. spec: subscriptions-and-invoicing §2.13 */
export interface InheritedUsage {
  customerId: string;
  from: string;
  /** Null: without an end. */
  to: string | null;
}

/** A question about one customer's usage of one meter over [from, to). */
export interface UsageReadQuestion {
  key: string;
  meterId: string;
  customerId: string;
  /** United with the customer's before anything is aggregated. */
  inherited?: readonly InheritedUsage[];
  from: string;
  to: string;
  /** Extra conditions of the price, ANDed with the meter's own. */
  filters: Record<string, string[]> | null;
  /** The price's bucket size; null for the meter's own. The answer of usage with buckets has their rows. */
  bucketSize: string | null;
  timezone: string;
  billingAnchor: string | null;
  /** Tell it every event of the meter, marked where it meets `filters`, instead of answering their aggregate. */
  eachEvent?: GrantFolding;
}

/**
 * How billing reads usage: all questions of a transaction at once, answered by question key, inside that transaction.
 * The usage engine implements it; stores take it as an argument, so that db/ does not depend on metering/.
 */
export type UsageReader = (
  sql: Sql,
  scope: Scope,
  questions: readonly UsageReadQuestion[],
) => Promise<Map<string, UsageAnswer>>;

/** A time whose usage was billed, as it was asked for, and the watermark of its answer. */
export interface BilledWindow {
  /** The caller's name for it, unique in one call. */
  key: string;
  meterId: string;
  customerId: string;
  inherited?: readonly InheritedUsage[];
  from: string;
  to: string;
  filters: Record<string, string[]> | null;
  watermark: string;
  /** How its buckets were asked for; null for one quantity. */
  bucketing: Bucketing | null;
}

/** What a meter knows of a billed time that the bill does not. */
export interface LateUsage {
  /** Events that came after the bill. */
  eventCount: number;
  /** Billed events that were voided after it. */
  voidedCount: number;
  /** What the meter's answer grew by, of both together; below zero where they lowered it. */
  quantity: string;
}

/** Tells for every window, by its key, what came after its watermark. Implemented by the usage engine. */
export type LateUsageReader = (
  sql: Sql,
  scope: Scope,
  windows: readonly BilledWindow[],
) => Promise<Map<string, LateUsage>>;

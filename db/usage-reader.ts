import type { UsageAnswer } from '../billing/charge.ts';
import type { Scope } from './scope.ts';
import type { Sql } from './transaction.ts';

/** A question about one customer's usage of one meter over [from, to). */
export interface UsageReadQuestion {
  key: string;
  meterId: string;
  customerId: string;
  from: string;
  to: string;
  /** Extra conditions of the price, ANDed with the meter's own. */
  filters: Record<string, string[]> | null;
  /** Not null: answer the rows of each bucket too. */
  bucketSize: string | null;
  timezone: string;
  billingAnchor: string | null;
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

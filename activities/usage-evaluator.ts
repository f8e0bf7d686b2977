import type { Scope } from '../db/scope.ts';

/**
 * Something that follows from usage: thresholds, alerts, top-ups. It is given customers whose usage changed, decides by rows
 * and acts by commands of their objects. It must be harmless to ask again; what fails for one customer must not stop the
 * others. Answers the customers that are to be looked at again in some minutes.
 */
export interface UsageEvaluator {
  readonly name: string;
  evaluate(scope: Scope, customerIds: readonly string[]): Promise<readonly string[]>;
}

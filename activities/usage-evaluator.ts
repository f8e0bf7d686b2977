import type { Scope } from '../db/scope.ts';

/**
 * Something that follows from usage: thresholds, alerts, top-ups. It is given customers whose usage changed, decides by rows
 * and acts by commands of their objects. It must be harmless to ask again; what fails for one customer must not stop the
 * others. Answers the customers that are to be looked at again, and when.
 */
export interface UsageEvaluator {
  readonly name: string;
  evaluate(scope: Scope, customerIds: readonly string[]): Promise<readonly LookAgain[]>;
}

/** A customer to be looked at again: at an instant of real time, or, where it is null because something failed, in some minutes. */
export interface LookAgain {
  customerId: string;
  at: string | null;
}

import type { Scope } from '../../db/scope.ts';

/**
 * Whoever looks at usage for what follows from it. It is given customers whose usage changed, a few at a time, decides by rows
 * and acts by commands of their objects. It must be harmless to ask again; what fails for one customer must not stop the
 * others. A customer about whom it answers nothing is looked at again with every mark, a second later at the earliest.
 */
export interface UsageEvaluator {
  readonly name: string;
  evaluate(scope: Scope, customerIds: readonly string[]): Promise<readonly (LookAgain | Headroom)[]>;
}

/** A customer to be looked at again: at an instant of real time, or, where it is null because something failed, in some minutes. */
export interface LookAgain {
  customerId: string;
  at: string | null;
}

/**
 * How much usage of a customer may cost, in the currency, before there can be something new; null where no usage brings anything. Usage
 * that must have cost less is looked at a minute later. Of several answers about a customer the least holds.
 */
export interface Headroom {
  customerId: string;
  headroom: string | null;
}

import type { Scope } from '../../db/scope.ts';
import type { PayerFigures, WantedFigures } from '../../services/evaluation/payer-figures.ts';

/**
 * Something that follows from usage: a threshold, an alert, a top-up. It says what it watches of customers, and acts on what was measured of
 * them, in transactions of its own or by commands of their objects. It must be harmless to ask again.
 */
export interface UsageRule {
  /** Finds what it watches of customers, a few at a time, before their usage is measured. */
  watch(scope: Scope, customerIds: readonly string[]): Promise<Watched[]>;
}

/** An object of a customer that a rule watches. */
export interface Watched {
  customerId: string;
  wants: Partial<WantedFigures>;
  /** Acts where the figures ask for it. Throws what is tried again later. */
  act(figures: PayerFigures): Promise<RuleOutcome>;
}

/** Outcome of a rule: how much usage may cost until there is something new, null for any; and when to look again by itself, null for never. */
export interface RuleOutcome {
  headroom: string | null;
  againAt: string | null;
}

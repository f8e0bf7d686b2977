/** Numbers of the invariants of design/quality.md. */
export type InvariantId = `I${number}`;

/**
 * A fact that holds between two commits, as one statement over whole tables. Several rules may make up one invariant. None
 * of them decides anything of billing: they only compare what is stored in two places.
 */
export interface InvariantRule {
  id: InvariantId;
  /** What holds, in words for whoever reads a report. */
  rule: string;
  /** `select count(*)` of the objects the rule is about. */
  examines: string;
  /** Rows `(object, problem)`: the id of each object for which it does not hold, and what is wrong. */
  violations: string;
  /** Every violation is one of the objects that `examines` counts, so a count of 0 needs no search. */
  violatesOnlyExamined?: true;
}

export interface Violation {
  object: string;
  problem: string;
}

/** What a check found about one rule. */
export interface Finding {
  id: InvariantId;
  rule: string;
  examined: number;
  /** The first of them, at most `maxViolations` a rule. */
  violations: Violation[];
}

export const maxViolations = 50;

/** Set to an interval before rules of deadlines run: how long something due may be under way. */
export const graceSetting = 'perennial.check_grace';

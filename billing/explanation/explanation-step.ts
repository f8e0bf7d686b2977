/** Parts of the derivation of a line, in the order they are told. */
export type StepKind =
  | 'quantity'
  | 'usage'
  | 'allowance'
  | 'price'
  | 'conversion'
  | 'proration'
  | 'commitment'
  | 'rounding'
  | 'billed_before'
  | 'sum';

/** Step of a line's amount in words. `kind` says which part of the derivation it tells, or what happened after. */
export interface ExplanationStep {
  kind: StepKind | 'discount' | 'credit' | 'late_usage' | 'late_correction';
  sentence: string;
  /** Amount that the step adds, or the amount after it, in the currency of the line; absent where it is about no money. */
  amount?: string;
}

/** Counts of a run against one server. */
export interface Counts {
  passed: number;
  failed: number;
}

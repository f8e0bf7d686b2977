/** When a plan was the plan of a subscription, [start, end); null is without a bound. */
export interface Tenure {
  start: string | null;
  end: string | null;
}

/** Whether a plan was the subscription's at an instant; what is of no plan is always held. */
export function isHeldAt(tenure: Tenure | null | undefined, at: string): boolean {
  if (!tenure) return true;
  return (tenure.start === null || tenure.start <= at) && (tenure.end === null || tenure.end > at);
}

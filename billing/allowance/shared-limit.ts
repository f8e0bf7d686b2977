import type { BillingPeriodInterval } from '../time/calendar.ts';
import type { Tenure } from './plan-tenure.ts';

/** Addend of a limit, and the time in which it counts: that of a plan while it was the subscription's. */
export interface LimitPortion extends Tenure {
  /** For a whole period; null is unlimited. */
  limit: string | null;
}

/** Addends and running period of an allowance that is not the same all the time. */
export interface SharedLimit {
  portions: LimitPortion[];
  /** Uncut, and what a whole limit is for: of a first calendar period with prorations, the whole one. */
  period: BillingPeriodInterval;
}

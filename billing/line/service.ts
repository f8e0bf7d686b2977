import type { DerivedProration } from '../price/derivation.ts';
import type { Interval } from '../time/calendar.ts';

/** A time an item is billed for, the charge window it lies in, and the share of the full price it pays. */
export interface Service extends Interval {
  window: Interval;
  /** The window of a shorter cadence as no boundary cuts it. */
  uncut?: Interval;
  proration: DerivedProration | null;
}

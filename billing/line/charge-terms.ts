import type { MeterGrants } from '../allowance/grant.ts';
import type { MeasuredGrant } from '../allowance/grant-usage.ts';
import type { CommitmentTerms, TimeBucketTerms } from '../commitment/commitment-window.ts';
import type { BillingPeriod, Interval } from '../time/calendar.ts';

/** Position of an item's charge period in the commitment of the item. */
export interface PartOfCommitment {
  /** Beginning of the commitment period. */
  start: string;
  /** The shortfall of the commitment is due with this charge period. */
  last: boolean;
}

/** The commitment of a line item. Decimals as strings. spec: subscriptions-and-invoicing §2.7.3 – §2.7.5 */
export interface ItemCommitment extends CommitmentTerms {
  /** Null is one charge period. */
  duration: BillingPeriod | null;
  /** Judged window by window of the meter. */
  windowed: boolean;
  /** With any of them the line's own terms hold nowhere: outside is the base rate. */
  timeBuckets: TimeBucketTerms[];
}

/** Commitment as a line shows it, in wire spelling. interface: Commitment info */
export interface CommitmentInfo {
  type: 'amount' | 'quantity';
  amount: string | null;
  quantity: string | null;
  overage_factor: string;
  duration: string;
  is_windowed: boolean;
  true_up_enabled: boolean;
  computed_commitment_utilized_amount: string;
  computed_overage_amount: string;
  computed_true_up_amount: string;
}

/** The windows that a line's budgets had in a billing period, for their records. */
export interface CycleGrants {
  cycle: Interval;
  measure: MeterGrants['measure'];
  /** Every budget that was measured, with a window or without. */
  entitlementIds: string[];
  windows: MeasuredGrant[];
}

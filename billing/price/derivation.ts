import type { MeasuredGrant } from '../allowance/grant-usage.ts';
import type { LimitShare } from '../allowance/period-limit.ts';
import type { CostStep, PriceTerms } from './price-terms.ts';

/**
 * Why a line costs what it costs: everything a person with a calculator needs to redo the sum. Plain JSON, decimals and
 * instants as strings, stored with the line and never recomputed. design: architecture §7
 */
export interface Derivation {
  version: 1;
  /** `fixed` a quantity for a time, `usage` a measured quantity, `onetime` once and whole. */
  charge: 'fixed' | 'usage' | 'onetime';
  currency: string;
  /** The price as it was when the line was computed; the rate of its custom currency is the one the line was converted with. */
  price: PriceTerms;
  /** One part; several when charge windows of a shorter cadence are folded into one line. Line amount = sum of part amounts. */
  parts: DerivedPart[];
  amount: string;
}

/** One charge period: quantity → price steps → exact cost → proration → one rounding. */
export interface DerivedPart {
  periodStart: string;
  periodEnd: string;
  /** What the meter was asked and what it answered; null for a fixed quantity. */
  usage: DerivedUsage | null;
  /** What the entitlement forgave; null when nothing is included. */
  allowance: DerivedAllowance | null;
  /** The budgets that usage opened; absent where none decides. */
  grants?: DerivedGrants;
  /** Buckets priced one by one (catalogue-and-metering §4.4); null for a quantity priced as a whole. */
  buckets: DerivedBucket[] | null;
  /** How many buckets were priced; above 2 000 they are not listed and the usage series of the same time shows them. */
  bucketCount: number | null;
  /** In place of more than 2 000 buckets: how many had which billable value. Null above 2 000 values; lines of before have none. */
  bucketValues?: DerivedBucketValue[] | null;
  /** The quantity that was priced. */
  quantity: string;
  /** The walk through the price, in its custom currency if it has one; empty for buckets, each of which restarts it. */
  steps: CostStep[];
  /** What the walk comes to in the custom currency of the price; absent for a price in fiat. */
  unitCost?: string;
  /** Exact cost of the quantity in the currency of the line, unrounded: `unitCost` × the rate where there is one. */
  cost: string;
  proration: DerivedProration | null;
  /** cost × proration, unrounded (a quotient that does not end is cut to 30 decimals for display only). */
  exactAmount: string;
  rounding: { precision: number; mode: 'half_away_from_zero' };
  /** What intermediate invoices billed of the charge period; absent where there were none. */
  billedBefore?: DerivedBilledBefore;
  amount: string;
  /** What a commitment made of the cost; absent without one. `exactAmount` is then what it comes to. */
  commitment?: DerivedCommitment;
}

/** How a commitment was held against a part. Exact decimals as strings. spec: subscriptions-and-invoicing §2.7 */
export interface DerivedCommitment {
  /** `line` the commitment of the line item; of the subscription: a share `within`, an `overage`, or the `true_up`. */
  kind: 'line' | 'within' | 'overage' | 'true_up';
  committed: { type: 'amount' | 'quantity'; value: string };
  /** Base cost that earlier invoices, and earlier charge periods, of the same commitment period billed. */
  prior: string;
  /** Where the commitment period of a line begins that lasts several charge periods; else absent. */
  since?: string;
  overageFactor: string;
  /** What the part costs without the factor; later invoices of the commitment period count it as prior. */
  base: string;
  utilized: string;
  overage: string;
  trueUp: string;
  /** How many windows were judged one by one; null for the cost as a whole. */
  windows: number | null;
  timeBuckets: number;
}

/** The rounded amount of the whole charge period since `from`, of which `amount` (for `quantity`) was billed before. */
export interface DerivedBilledBefore {
  from: string;
  quantity: string;
  amount: string;
  /** What it costs without the factor of a commitment. */
  base: string;
  wholeAmount: string;
}

/** The measured quantity of the part's own period and how fresh the store was when it answered. */
export interface DerivedUsage {
  meterId: string;
  from: string;
  to: string;
  quantity: string;
  /** As the usage store gave it; the same watermark answers the same quantity again. */
  watermark: string | null;
  /** How the meter was asked for buckets; null for one quantity, and lines of before have none. */
  bucketing?: Bucketing | null;
}

/** Where buckets lie: their size, and the subscription's clock when the line was computed. spec: catalogue-and-metering §7.2 */
export interface Bucketing {
  size: string;
  timezone: string;
  /** Gives buckets of a month their day. */
  billingAnchor: string;
}

export interface DerivedAllowance {
  limit: string | null;
  resetPeriod: string | null;
  /** One row a reset window: usage before the service began and until it ended, also of the lines ahead on the same meter. */
  windows: DerivedAllowanceWindow[];
  billable: string;
  adjusted: string;
}

export interface DerivedAllowanceWindow {
  start: string;
  end: string;
  /** What is included in it where that is not `limit` of the allowance, and what it is made of. spec: §2.3.6 */
  limit?: string | null;
  shares?: LimitShare[];
  usageBefore: string;
  usageTotal: string;
  aheadBefore: string;
  aheadTotal: string;
  billable: string;
}

/** Budgets of an entitlement and what was over them. spec: catalogue-and-metering §9 */
export interface DerivedGrants {
  mode: 'additive' | 'parallel';
  measure: 'quantity' | 'amount';
  windowCount: number;
  /** In the order of the budgets, then of time; null above 2 000. */
  windows: MeasuredGrant[] | null;
  /** What this line is billed of it: units, or money for `amount`. */
  billable: string;
}

export interface DerivedBucket {
  start: string;
  group: string;
  value: string;
  billable: string;
  cost: string;
}

/** Buckets of one billable value, each of which costs the same. */
export interface DerivedBucketValue {
  billable: string;
  count: number;
  /** Of one bucket. */
  cost: string;
}

export type ProrationReason = 'partly_active' | 'first_calendar_period' | 'charge_window_cut' | 'period_cut_short';

/** The share of a full charge period that is billed: numerator / denominator, both in milliseconds of elapsed time. */
export interface DerivedProration {
  numeratorMs: number;
  denominatorMs: number;
  fullStart: string;
  fullEnd: string;
  why: ProrationReason;
}

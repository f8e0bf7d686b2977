import type { Allowance } from '../allowance/allowance.ts';
import type { MeterGrants } from '../allowance/grant.ts';
import type { GrantFold, GrantFolding } from '../allowance/grant-usage.ts';
import type { LimitShare } from '../allowance/period-limit.ts';
import type { BilledBefore } from '../price/charge-amount.ts';
import type { Bucketing, Derivation, DerivedProration } from '../price/derivation.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import type { BillingCycle, BillingPeriod, Interval } from '../time/calendar.ts';
import type { CommitmentInfo, CycleGrants, ItemCommitment, PartOfCommitment } from './charge-terms.ts';
import type { ResumeTerms } from './resume-charge.ts';

/**
 * Which invoice is being filled; with `running` none, but the cost of the current period so far is told.
 * spec: subscriptions-and-invoicing §2.6.1; wallets-and-payments §2.16
 */
export type ChargeReason = 'opening' | 'cycle' | 'closing' | 'last' | 'preview' | 'resume' | 'threshold' | 'running';

/**
 * A billing period as billed, [start, end), and as it would be if nothing cut it: `full` is the whole charge period that a
 * FIXED amount pays for. They differ for a first calendar period with prorations (full.start = previous boundary), a period
 * ended by end_date, cancellation or pause (full.end = the boundary that is not reached), and after a resume or an
 * intermediate invoice (full.start = where the period began).
 */
export interface ChargePeriod extends Interval {
  full: Interval;
}

/** The subscription's members that decide its charges; straight from its row. */
export interface ChargeSubscription {
  currency: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  billingAnchor: string;
  timezone: string;
  lineItemGrouping: 'per_charge_period' | 'per_billing_period';
  /** Where commitments of several periods begin; absent where there are none and nothing was paused. */
  startDate?: string;
  /** True where FIXED items pay a share of the first calendar period; absent: the whole of it. */
  prorationBehavior?: 'create_prorations' | 'none';
  /** Where charging begins after a trial; items of a longer cadence run their own periods from here at the earliest. */
  trialEnd?: string | null;
}

/** A subscription line item with its price; the lead's rows map one to one. Ended items stay in the list. */
export interface ChargeItem {
  id: string;
  priceId: string;
  priceType: 'FIXED' | 'USAGE';
  invoiceCadence: 'ADVANCE' | 'ARREAR';
  billingPeriod: BillingPeriod | 'ONETIME';
  billingPeriodCount: number;
  displayName: string;
  quantity: string;
  startDate: string;
  endDate: string | null;
  meterId: string | null;
  price: PriceTerms;
  /** The price's bucket size, else the meter's; null when usage is priced as one quantity. */
  bucketSize: string | null;
  /** The meter's reset_usage: NEVER = the running value since the item began. */
  resetUsage: 'BILLING_PERIOD' | 'NEVER';
  /** Charging of a FIXED item for the period in which it begins; absent: as its subscription says. */
  prorationBehavior?: 'create_prorations' | 'none';
  /** Absent or null: none. Only USAGE has one. */
  commitment?: ItemCommitment | null;
  /** What the meter measures: COUNT, SUM, …; absent without a meter. */
  meterType?: string | null;
}

/**
 * A live invoice line (DRAFT or FINALIZED, not voided) that already charges an item for a time. Needed are those that overlap
 * the billed periods, all of a one-time item, and all within the open own period of an item of a longer cadence.
 */
export interface BilledService {
  subscriptionLineItemId: string;
  periodStart: string;
  periodEnd: string;
  /** True on an intermediate invoice, whose time later invoices count again. */
  intermediate?: boolean;
}

/** A time of a billing period that was invoiced before its end, and what usage it billed. spec: §2.14.1 */
export interface IntermediateInvoice extends Interval {
  parts: IntermediatePart[];
}

/** What an intermediate invoice billed of an item for one charge period. */
export interface IntermediatePart extends Interval {
  subscriptionLineItemId: string;
  quantity: string;
  amount: string;
  /** What that usage costs without the factor of a commitment. */
  base: string;
}

export interface ChargePlanInput {
  reason: ChargeReason;
  subscription: ChargeSubscription;
  /** P1, whose arrears and usage are billed; null on an opening invoice. */
  elapsed: ChargePeriod | null;
  /** P2, whose advance charges are billed; null on closing and last invoices. */
  next: ChargePeriod | null;
  /** Preview: min(now, period_end). Usage is read up to here; absent = elapsed.end. */
  usageUntil?: string;
  items: ChargeItem[];
  /** Aggregated entitlement by meter id (catalogue-and-metering §8.3); a meter without one bills everything. */
  allowances: Record<string, Allowance>;
  /** Budgets by meter id, in place of an allowance (§9). */
  grants?: Record<string, MeterGrants>;
  /** What is on live invoices already; empty for a preview and for a recomputed draft's own lines. */
  billed: BilledService[];
  /** With reason `resume`: what the pause gave back, and what is charged again. */
  resume?: ResumeTerms;
  /** Intermediate invoices that cut the billed period; voided ones too, whose amounts were given up. */
  intermediate?: IntermediateInvoice[];
  /** Paused stretches, [pause, resume): an item of a longer cadence is not billed for them. */
  paused?: Interval[];
}

/** What must be read from the usage store. `key` is deterministic; equal questions are asked once. */
export interface UsageQuestion {
  key: string;
  lineItemId: string;
  priceId: string;
  meterId: string;
  from: string;
  to: string;
  /** Not null: aggregate per bucket, cut at `from` and `to`, and answer the rows in `buckets` too. */
  bucketSize: string | null;
  /** Tell it each event of the meter, marked where it meets the conditions of the item's price. */
  eachEvent?: GrantFolding;
}

/** Answer to a question; `quantity` is the aggregate, for a bucketed meter the sum of its rows. */
export interface UsageAnswer {
  quantity: string;
  watermark?: string | null;
  buckets?: { start: string; group: string; value: string }[];
  /** What was asked with `eachEvent`, after the last event. */
  granted?: GrantFold;
}

/** Questions whose answers are added up. */
export type QuestionKeys = string[];

/** A reset window of an allowance and where its usage is answered. Empty keys mean nothing. */
export interface PlannedWindow extends Interval {
  /** In place of the allowance's, and what it is made of. */
  limit?: string | null;
  shares?: LimitShare[];
  before: QuestionKeys;
  total: QuestionKeys;
  aheadBefore: QuestionKeys;
  aheadTotal: QuestionKeys;
}

/** How the quantity of a usage part will be known. */
export interface PlannedUsage {
  meterId: string;
  from: string;
  to: string;
  /** Null when the time is empty: the quantity is 0. */
  main: string | null;
  /** Not null: usage is priced bucket by bucket. */
  bucketing: Bucketing | null;
  allowance: Allowance | null;
  windows: PlannedWindow[];
  /** Not null: budgets decide; `main` tells every event of their billing periods. */
  grants: PlannedGrants | null;
}

/** The budgets of a line and the billing periods they belong to. */
export interface PlannedGrants {
  grants: MeterGrants;
  cycles: GrantCycle[];
  timezone: string;
  folding: GrantFolding;
}

/** A billing period as far as it is billed. */
export interface GrantCycle extends Interval {
  /** Where it ends when nothing cuts it; absent where nothing does. */
  fullEnd?: string;
}

/** One charge period of a line. */
export interface PlannedPart {
  start: string;
  end: string;
  proration: DerivedProration | null;
  usage: PlannedUsage | null;
  /** Set on an invoice that closes a part of the charge period: what is missing of a commitment is not due yet. */
  unfinished?: true;
  /** Of a commitment that lasts several charge periods. */
  commitmentPeriod?: PartOfCommitment;
  /** Absent when the charge period begins with the part. */
  billedBefore?: BilledBefore;
}

/** A line to be: which item, which time, which questions. Plain JSON. */
export interface PlannedCharge {
  item: ChargeItem;
  currency: string;
  charge: 'fixed' | 'usage' | 'onetime';
  periodStart: string;
  periodEnd: string;
  /** One; several when the windows of a shorter cadence are folded into one line. */
  parts: PlannedPart[];
  folded: boolean;
  questions: UsageQuestion[];
}

export interface ChargeLine {
  /** Null, as is the price, on the true-up of a subscription's commitment. */
  subscriptionLineItemId: string | null;
  priceId: string | null;
  priceType: 'FIXED' | 'USAGE';
  invoiceCadence: 'ADVANCE' | 'ARREAR';
  displayName: string;
  meterId: string | null;
  quantity: string;
  /** Rounded once, at the currency's precision, e.g. `5.70`. */
  amount: string;
  /** USAGE with an entitlement: measured − billable; else null. */
  adjustedEntitlementQuantity: string | null;
  periodStart: string;
  periodEnd: string;
  metadata: Record<string, string>;
  /** Of the line item's commitment; null without one. */
  commitmentInfo: CommitmentInfo | null;
  derivation: Derivation;
  /** The windows of its budgets, by billing period; absent where no budget decides. */
  grants?: CycleGrants[];
}

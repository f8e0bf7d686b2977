import type { OraclePrice } from '../unit/billing/rating-oracle.ts';

/** Instants of a simulated life are milliseconds since 1970; amounts and quantities are plain decimals as texts. */
export type Unit = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';

export interface Cadence {
  unit: Unit;
  count: number;
}

/** A price of a plan and the line item a subscription gets from it. */
export interface Offer {
  id: string;
  type: 'FIXED' | 'USAGE';
  advance: boolean;
  /** Null: charged once. */
  cadence: Cadence | null;
  quantity: string;
  price: OraclePrice;
  /** What a usage price counts. */
  meter: string | null;
  /** The bucket size of its meter; null when usage is priced as one quantity. */
  bucket: BucketSize | null;
  /** What the first item of it is committed to; only usage of the plan it begins with. */
  commitment: LineCommitment | null;
}

export type BucketSize = 'HOUR' | '6HOUR' | 'DAY';

/** A time of the day in minutes of UTC, over midnight where it ends before it begins, with its price and commitment. */
export interface TimeBucket {
  from: number;
  to: number;
  kind: 'amount' | 'quantity';
  value: string;
  factor: string;
  trueUp: boolean;
  price: OraclePrice;
}

export interface LineCommitment {
  kind: 'amount' | 'quantity';
  value: string;
  factor: string;
  trueUp: boolean;
  /** Null: a billing period. */
  duration: Unit | null;
  /** Judged by bucket of the meter. */
  windowed: boolean;
  times: TimeBucket[];
}

/** What a phase charges beside the plan, and in place of which of its prices. */
export interface SimulatedPhase {
  start: number;
  end: number | null;
  items: { replaces: string | null; offer: Offer }[];
}

/** What is asked of the subscription, and when. */
export type Command = { at: number } & (
  | { kind: 'pause' | 'resume'; prorate: boolean }
  | { kind: 'cancelNow'; back: number; prorate: boolean; invoice: boolean }
  | { kind: 'cancelAt'; end: number }
  | { kind: 'cancelAtPeriodEnd' | 'keep' | 'endTrial' }
  | { kind: 'quantity'; offer: string; quantity: string }
  | { kind: 'plan'; plan: number; prorate: boolean }
  | { kind: 'inherit' | 'disinherit'; heir: number }
);

/** An event; `by` is 0 for the customer himself, from 1 on one of the heirs. */
export interface Usage {
  meter: string;
  at: number;
  quantity: string;
  by: number;
}

/** A catalogue, a subscription and everything that happens to it: what a simulation bills twice. */
export interface Life {
  seed: number;
  currency: string;
  timezone: string;
  cadence: Cadence;
  calendar: boolean;
  start: number;
  /** Null: the start; never on a calendar cycle. */
  anchor: number | null;
  end: number | null;
  trialDays: number;
  prorate: boolean;
  folded: boolean;
  /** Where what changes give back goes (decision 50). */
  destination: 'auto' | 'wallet' | 'next_invoice';
  /** Of the whole subscription; then no line has one. */
  commitment: { amount: string; factor: string; trueUp: boolean; duration: Unit | null } | null;
  /** The plans; the first is the one it begins with. */
  plans: Offer[][];
  /** One after the other from the start; only the last may be without an end. Then plans do not change. */
  phases: SimulatedPhase[];
  /** Customers who may inherit it; true: from its creation on. */
  heirs: boolean[];
  /** Every meter is summed. */
  usage: Usage[];
  /** In hundredths of a percent. */
  discount: bigint | null;
  /** For how many periods there is the discount; null: for ever. */
  discountPeriods: number | null;
  tax: { percentage: bigint; isInclusive: boolean } | null;
  commands: Command[];
  /** Until when it is looked at. */
  until: number;
}

/** A line as an invoice shows it: the item, the time it pays for, and money in minor units. */
export interface SimulatedLine {
  item: string;
  start: number;
  end: number;
  quantity: string;
  amount: bigint;
  /** What is utilized of the line's commitment, what is above it and what is missing; absent without one. */
  committed?: string;
}

/** What a life brought about, by whoever computed it. */
export interface SimulatedInvoice {
  reason: string;
  start: number;
  end: number;
  skipped: boolean;
  lines: SimulatedLine[];
  total: bigint;
}

export interface Billed {
  invoices: SimulatedInvoice[];
  /** What went to the wallet, and when. */
  returned: { at: number; amount: bigint }[];
  /** Whether each command was carried out. */
  accepted: boolean[];
  status: string;
  endedAt: number | null;
}

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
}

/** What is asked of the subscription, and when. */
export type Command = { at: number } & (
  | { kind: 'pause' | 'resume'; prorate: boolean }
  | { kind: 'cancelNow'; back: number; prorate: boolean; invoice: boolean }
  | { kind: 'cancelAt'; end: number }
  | { kind: 'cancelAtPeriodEnd' | 'keep' | 'endTrial' }
  | { kind: 'quantity'; offer: string; quantity: string }
  | { kind: 'plan'; plan: number; prorate: boolean }
);

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
  /** The plans; the first is the one it begins with. */
  plans: Offer[][];
  /** Every meter is summed. */
  usage: { meter: string; at: number; quantity: string }[];
  /** In hundredths of a percent. */
  discount: bigint | null;
  tax: { percentage: bigint; isInclusive: boolean } | null;
  commands: Command[];
  /** Until when it is looked at. */
  until: number;
}

/** A line as an invoice shows it: `offer#version`, the time it pays for, and money in minor units. */
export interface SimulatedLine {
  item: string;
  start: number;
  end: number;
  quantity: string;
  amount: bigint;
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

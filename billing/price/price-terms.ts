import type { Decimal } from '../money/money.ts';

export type BillingModel = 'FLAT_FEE' | 'PACKAGE' | 'TIERED' | 'PERCENTAGE';

/** A tier; `up_to` null is the open last one. Any order. */
export interface TierTerms {
  up_to: string | null;
  unit_amount: string;
  flat_amount?: string | null;
}

/** Members that decide a price's cost, in wire spelling, decimals as strings. spec: catalogue-and-metering §4.1 */
export interface PriceTerms {
  billing_model: BillingModel;
  currency: string;
  amount?: string | null;
  /** Absent means VOLUME. */
  tier_mode?: 'VOLUME' | 'SLAB' | null;
  tiers?: TierTerms[] | null;
  transform_quantity?: { divide_by: number | string; round?: 'up' | 'down' | null } | null;
  percentage_rate?: string | null;
  /** A custom currency: `amount` and `tiers` are in it, and one of it is worth `rate` of `currency`. spec: §4.5 */
  price_unit?: { id: string; code: string; rate: string } | null;
}

/** Term of the cost: amount = quantity × unit_amount + flat_amount. `quantity` counts packages for PACKAGE. */
export interface CostStep {
  /** 1-based position of the tier walked, in ascending order; null where there are no tiers. */
  tier: number | null;
  up_to: string | null;
  quantity: string;
  unit_amount: string;
  flat_amount: string;
  amount: string;
}

export interface CostOfQuantity {
  cost: Decimal;
  steps: CostStep[];
}

/** A price ready to be asked for many quantities (buckets). */
export type Pricer = (quantity: Decimal) => CostOfQuantity;

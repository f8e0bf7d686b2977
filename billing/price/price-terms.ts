import type { Decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';

/** The price models, as the wire spells them; each is a `PriceModel` in `price.ts`. */
export const billingModels = ['FLAT_FEE', 'PACKAGE', 'TIERED', 'PERCENTAGE'] as const;

export type BillingModel = (typeof billingModels)[number];

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

/** A way to price a quantity. */
export interface PriceModel {
  /** Reads the terms once. Throws `validation_error` where a member that the model needs is absent or has no meaning. */
  pricer(terms: PriceTerms): Pricer;
  /** The words in front of a step's sum where it is explained; `quantity` writes a quantity as people read it. */
  stepLabel(step: CostStep, terms: PriceTerms, quantity: (digits: string) => string): string;
  /** Set where a step's `unit_amount` is a rate, which is told without a currency. */
  unitIsRate?: true;
}

/** A member that a price of the model cannot do without. Throws `validation_error` where it is absent. */
export function requiredMember<Name extends keyof PriceTerms>(
  terms: PriceTerms,
  name: Name,
): NonNullable<PriceTerms[Name]> {
  const value = terms[name];
  if (value !== null && value !== undefined) return value;
  throw refuse('validation_error', `a ${terms.billing_model} price needs ${name}`, {
    fields: { [name]: `required by billing_model ${terms.billing_model}` },
  });
}

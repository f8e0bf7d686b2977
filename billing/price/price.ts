import { type Decimal, decimal, decimalString, storedDecimal, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { flatFee } from './price-flat.ts';
import { packages } from './price-package.ts';
import { percentage } from './price-percentage.ts';
import {
  type BillingModel,
  billingModels,
  type CostOfQuantity,
  type PriceModel,
  type Pricer,
  type PriceTerms,
} from './price-terms.ts';
import { tiered } from './price-tiered.ts';

/** Every price model by its name. */
const models: Readonly<Record<BillingModel, PriceModel>> = {
  FLAT_FEE: flatFee,
  PACKAGE: packages,
  TIERED: tiered,
  PERCENTAGE: percentage,
};

/** One value of a bucketed meter: what a bucket (and group) measured. */
export interface BucketValue {
  start: string;
  group: string;
  value: string;
}

export interface BucketedCost {
  /** Σ bucket values. */
  quantity: Decimal;
  cost: Decimal;
  costs: Decimal[];
}

/**
 * Reads a price once. Members of more than 15 decimals are rounded to 15 first, like everything stored. A price without the
 * member its model needs is refused. spec: catalogue-and-metering §4.3, §1.1 N3
 */
export function pricerOf(terms: PriceTerms): Pricer {
  const model = modelOf(terms).pricer(terms);
  return (given) => {
    const quantity = storedDecimal(given);
    return quantity.isZero() ? { cost: zero, steps: [] } : model(quantity);
  };
}

/** The model of a price. Throws `validation_error` for a name that is none. */
export function modelOf({ billing_model: name }: Pick<PriceTerms, 'billing_model'>): PriceModel {
  if (Object.hasOwn(models, name)) return models[name];
  throw refuse(
    'validation_error',
    `billing_model ${name} is not ${billingModels.slice(0, -1).join(', ')} or ${billingModels.at(-1)}`,
  );
}

/**
 * Unrounded cost of a quantity and the terms it is the sum of. A quantity of 0 costs 0 in every model.
 * spec: catalogue-and-metering §4.3
 */
export function costOfQuantity(terms: PriceTerms, quantity: Decimal | string): CostOfQuantity {
  return pricerOf(terms)(decimal(quantity));
}

/**
 * Every bucket priced on its own, tiers restarting at zero, packages rounded per bucket; the sum is rounded once, later.
 * spec: catalogue-and-metering §4.4
 */
export function costOfBuckets(terms: PriceTerms, values: readonly (Decimal | string)[]): BucketedCost {
  const price = pricerOf(terms);
  const result: BucketedCost = { quantity: zero, cost: zero, costs: [] };
  for (const given of values) {
    const value = decimal(given);
    const { cost } = price(value);
    result.quantity = result.quantity.plus(value);
    result.cost = result.cost.plus(cost);
    result.costs.push(cost);
  }
  return result;
}

/** cost ÷ quantity to 15 decimals; 0 when nothing was used. spec: catalogue-and-metering §4.3, §1.1 N4 */
export function effectiveUnitCost(cost: Decimal, quantity: Decimal): Decimal {
  return quantity.isZero() ? zero : storedDecimal(cost.dividedBy(quantity));
}

/**
 * Quantity of a line item: the requested one (0 included), else the price's minimum if set and not 0, else 1; usage starts
 * at 0. A negative one is refused. spec: catalogue-and-metering §4.2
 */
export function defaultQuantity(
  priceType: 'FIXED' | 'USAGE',
  minQuantity: string | null | undefined,
  requested: string | null | undefined,
): string {
  if (priceType === 'USAGE') return '0';
  if (requested !== null && requested !== undefined) {
    const quantity = storedDecimal(requested);
    if (quantity.isNegative() && !quantity.isZero()) {
      throw refuse('validation_error', 'quantity must not be negative', { fields: { quantity: 'must be 0 or more' } });
    }
    return decimalString(quantity);
  }
  const minimum = minQuantity === null || minQuantity === undefined ? zero : storedDecimal(minQuantity);
  return minimum.isZero() ? '1' : decimalString(minimum);
}

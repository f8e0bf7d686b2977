import { type Decimal, decimal, decimalString, storedDecimal, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { flatCost } from './price-flat.ts';
import { packageCost } from './price-package.ts';
import { percentageCost } from './price-percentage.ts';
import type { CostOfQuantity, Pricer, PriceTerms } from './price-terms.ts';
import { readTiers, slabCost, volumeCost } from './price-tiered.ts';

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
  const model = modelOf(terms);
  return (given) => {
    const quantity = storedDecimal(given);
    return quantity.isZero() ? { cost: zero, steps: [] } : model(quantity);
  };
}

function modelOf(terms: PriceTerms): Pricer {
  switch (terms.billing_model) {
    case 'FLAT_FEE':
      return flatCost(storedDecimal(required(terms.amount, 'amount', 'FLAT_FEE')));
    case 'PACKAGE': {
      const transform = required(terms.transform_quantity, 'transform_quantity', 'PACKAGE');
      const amount = storedDecimal(required(terms.amount, 'amount', 'PACKAGE'));
      return packageCost(amount, storedDecimal(transform.divide_by), transform.round ?? 'up');
    }
    case 'TIERED': {
      const tiers = readTiers(required(terms.tiers, 'tiers', 'TIERED'));
      return terms.tier_mode === 'SLAB' ? slabCost(tiers) : volumeCost(tiers);
    }
    case 'PERCENTAGE':
      return percentageCost(storedDecimal(required(terms.percentage_rate, 'percentage_rate', 'PERCENTAGE')));
    default:
      throw refuse(
        'validation_error',
        `billing_model ${terms.billing_model} is not FLAT_FEE, PACKAGE, TIERED or PERCENTAGE`,
      );
  }
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

function required<T>(value: T | null | undefined, name: string, model: string): T {
  if (value === null || value === undefined) {
    throw refuse('validation_error', `a ${model} price needs ${name}`, {
      fields: { [name]: `required by billing_model ${model}` },
    });
  }
  return value;
}

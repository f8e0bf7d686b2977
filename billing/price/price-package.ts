import { type Decimal, decimalString, storedDecimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { type PriceModel, type Pricer, requiredMember } from './price-terms.ts';

/** An amount for each package that the quantity fills. spec: catalogue-and-metering §4.3 PACKAGE */
export const packages: PriceModel = {
  pricer(terms) {
    const transform = requiredMember(terms, 'transform_quantity');
    const amount = storedDecimal(requiredMember(terms, 'amount'));
    return packageCost(amount, storedDecimal(transform.divide_by), transform.round ?? 'up');
  },
  stepLabel(_step, { transform_quantity: transform }) {
    const round = transform?.round === 'down' ? 'a started one not counted' : 'a started one whole';
    return `Packages of ${transform?.divide_by ?? 1}, ${round}`;
  },
};

/**
 * amount × packages; a started package counts whole (`up`) or not at all (`down`). The division is exact: 300 ÷ 100 is 3
 * packages, 300.0001 ÷ 100 is 4.
 */
function packageCost(amount: Decimal, divideBy: Decimal, round: 'up' | 'down'): Pricer {
  if (!divideBy.isPositive() || divideBy.isZero()) {
    throw refuse('validation_error', 'transform_quantity.divide_by must be at least 1');
  }
  return (quantity) => {
    const whole = quantity.dividedToIntegerBy(divideBy);
    const rest = quantity.minus(whole.times(divideBy));
    const packages = round === 'up' && rest.greaterThan(0) ? whole.plus(1) : whole;
    const cost = amount.times(packages);
    return {
      cost,
      steps: [
        {
          tier: null,
          up_to: null,
          quantity: decimalString(packages),
          unit_amount: decimalString(amount),
          flat_amount: '0',
          amount: decimalString(cost),
        },
      ],
    };
  };
}

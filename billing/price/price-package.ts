import { type Decimal, decimalString } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import type { Pricer } from './price-terms.ts';

/**
 * amount × packages; a started package counts whole (`up`) or not at all (`down`). The division is exact: 300 ÷ 100 is 3
 * packages, 300.0001 ÷ 100 is 4. spec: catalogue-and-metering §4.3 PACKAGE
 */
export function packageCost(amount: Decimal, divideBy: Decimal, round: 'up' | 'down'): Pricer {
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

import { type Decimal, decimalString } from '../money/money.ts';
import type { Pricer } from './price-terms.ts';

/** amount × quantity. spec: catalogue-and-metering §4.3 FLAT_FEE */
export function flatCost(amount: Decimal): Pricer {
  return (quantity) => {
    const cost = amount.times(quantity);
    return {
      cost,
      steps: [
        {
          tier: null,
          up_to: null,
          quantity: decimalString(quantity),
          unit_amount: decimalString(amount),
          flat_amount: '0',
          amount: decimalString(cost),
        },
      ],
    };
  };
}

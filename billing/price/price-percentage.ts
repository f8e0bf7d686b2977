import { type Decimal, decimalString, hundred } from '../money/money.ts';
import type { Pricer } from './price-terms.ts';

/** base × rate ÷ 100, the base being the quantity. spec: catalogue-and-metering §4.3 PERCENTAGE */
export function percentageCost(rate: Decimal): Pricer {
  const share = rate.dividedBy(hundred);
  return (quantity) => {
    const cost = quantity.times(share);
    return {
      cost,
      steps: [
        {
          tier: null,
          up_to: null,
          quantity: decimalString(quantity),
          unit_amount: decimalString(share),
          flat_amount: '0',
          amount: decimalString(cost),
        },
      ],
    };
  };
}

import { type Decimal, decimalString, hundred, storedDecimal } from '../money/money.ts';
import { type PriceModel, type Pricer, requiredMember } from './price-terms.ts';

/** base × rate ÷ 100, the base being the quantity. spec: catalogue-and-metering §4.3 PERCENTAGE */
export const percentage: PriceModel = {
  pricer: (terms) => percentageCost(storedDecimal(requiredMember(terms, 'percentage_rate'))),
  stepLabel: (_step, terms) => `${terms.percentage_rate ?? '0'} percent`,
  unitIsRate: true,
};

function percentageCost(rate: Decimal): Pricer {
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

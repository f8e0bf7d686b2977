import { type Decimal, decimalString, storedDecimal } from '../money/money.ts';
import { type PriceModel, type Pricer, requiredMember } from './price-terms.ts';

/** amount × quantity. spec: catalogue-and-metering §4.3 FLAT_FEE */
export const flatFee: PriceModel = {
  pricer: (terms) => flatCost(storedDecimal(requiredMember(terms, 'amount'))),
  stepLabel: () => 'Flat fee',
};

function flatCost(amount: Decimal): Pricer {
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

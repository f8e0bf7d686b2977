import type { ChargeLine } from '../line/charge-input.ts';
import { decimal, decimalString, least, moneyString } from '../money/money.ts';
import type { DerivedPart } from '../price/derivation.ts';

/** What a line was reduced by, on its metadata. */
export const creditMember = 'plan_change_credit';

/**
 * The lines of an opening invoice less the credit of the plan that was left: it reduces the FIXED lines in their order, each not
 * below zero; what none of them takes is left for the wallet. spec: subscriptions-and-invoicing §2.9.2
 */
export function lessCredit<Line extends ChargeLine>(lines: readonly Line[], credit: string, currency: string): Line[] {
  let left = decimal(credit);
  return lines.map((line) => {
    const used = least(left, decimal(line.amount));
    if (line.priceType !== 'FIXED' || !used.isPositive() || used.isZero()) return line;
    left = left.minus(used);
    const amount = moneyString(decimal(line.amount).minus(used), currency);
    const taken = moneyString(used.negated(), currency);
    const metadata = { ...line.metadata, [creditMember]: decimalString(used) };
    const parts = [...line.derivation.parts, creditPart(line, taken)];
    return { ...line, amount, metadata, derivation: { ...line.derivation, parts, amount } };
  });
}

/** The credit as a part of the derivation, so that the parts still add up to the line. */
function creditPart(line: ChargeLine, taken: string): DerivedPart {
  const [first] = line.derivation.parts;
  return {
    periodStart: line.periodStart,
    periodEnd: line.periodEnd,
    usage: null,
    allowance: null,
    buckets: null,
    bucketCount: null,
    quantity: '1',
    steps: [],
    cost: taken,
    proration: null,
    exactAmount: taken,
    rounding: first?.rounding ?? { precision: 2, mode: 'half_away_from_zero' },
    amount: taken,
  };
}

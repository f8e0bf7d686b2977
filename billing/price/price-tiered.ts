import { type Decimal, decimalString, least, storedDecimal, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { type CostStep, type PriceModel, type Pricer, requiredMember, type TierTerms } from './price-terms.ts';

interface Tier {
  /** Inclusive; null is open. */
  upTo: Decimal | null;
  unitAmount: Decimal;
  flatAmount: Decimal;
}

/** Tiers, each with an amount a unit and one for entering it. spec: catalogue-and-metering §4.3 TIERED */
export const tiered: PriceModel = {
  pricer(terms) {
    const tiers = readTiers(requiredMember(terms, 'tiers'));
    return terms.tier_mode === 'SLAB' ? slabCost(tiers) : volumeCost(tiers);
  },
  stepLabel({ tier, up_to: upTo }, { tier_mode: mode }, quantity) {
    const bound = upTo === null ? 'no upper limit' : `up to ${quantity(upTo)}`;
    return `${mode === 'SLAB' ? 'Tier' : 'All of it in tier'} ${tier ?? 1} (${bound})`;
  },
};

/** Tiers in ascending order, the open one last, whatever the order given. spec: catalogue-and-metering §4.3 */
function readTiers(terms: readonly TierTerms[]): Tier[] {
  if (terms.length === 0)
    throw refuse('validation_error', 'tiers must hold at least one tier', { fields: { tiers: 'at least one' } });
  const tiers = terms.map((tier) => ({
    upTo: tier.up_to === null || tier.up_to === undefined ? null : storedDecimal(tier.up_to),
    unitAmount: storedDecimal(tier.unit_amount),
    flatAmount: storedDecimal(tier.flat_amount ?? '0'),
  }));
  return tiers.sort((a, b) => (a.upTo === null ? 1 : b.upTo === null ? -1 : a.upTo.comparedTo(b.upTo)));
}

/**
 * All of the quantity at the first tier that reaches it; above every limit at the last tier.
 * spec: catalogue-and-metering §4.3 TIERED VOLUME
 */
function volumeCost(tiers: Tier[]): Pricer {
  return (quantity) => {
    const reached = tiers.findIndex((tier) => tier.upTo === null || quantity.lessThanOrEqualTo(tier.upTo));
    const position = reached === -1 ? tiers.length - 1 : reached;
    const step = stepOf(tiers, position, quantity);
    return { cost: step.cost, steps: [step.step] };
  };
}

/**
 * Each tier prices the part of the quantity inside it and adds its flat amount only when that part is positive; the last tier
 * is open even when it has a limit. spec: catalogue-and-metering §4.3 TIERED SLAB
 */
function slabCost(tiers: Tier[]): Pricer {
  return (quantity) => {
    const steps: CostStep[] = [];
    let cost = zero;
    let below = zero;
    for (const [position, tier] of tiers.entries()) {
      const open = tier.upTo === null || position === tiers.length - 1;
      const part = (open ? quantity : least(quantity, tier.upTo!)).minus(below);
      if (!part.greaterThan(0)) break;
      const term = stepOf(tiers, position, part);
      steps.push(term.step);
      cost = cost.plus(term.cost);
      below = below.plus(part);
    }
    return { cost, steps };
  };
}

function stepOf(tiers: Tier[], position: number, quantity: Decimal): { cost: Decimal; step: CostStep } {
  const tier = tiers[position]!;
  const cost = quantity.times(tier.unitAmount).plus(tier.flatAmount);
  const step = {
    tier: position + 1,
    up_to: tier.upTo === null ? null : decimalString(tier.upTo),
    quantity: decimalString(quantity),
    unit_amount: decimalString(tier.unitAmount),
    flat_amount: decimalString(tier.flatAmount),
    amount: decimalString(cost),
  };
  return { cost, step };
}

import {
  type CommittedCharge,
  type CommittedShare,
  commitUsage,
  isActive,
  type SubscriptionCommitment,
} from '../commitment/commitment.ts';
import {
  currencyPrecision,
  type Decimal,
  decimal,
  decimalString,
  moneyString,
  roundToCurrency,
  sum,
} from '../money/money.ts';
import { proratedCost } from '../price/charge-amount.ts';
import type { DerivedCommitment, DerivedPart } from '../price/derivation.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { costInCurrency } from '../price/price-unit.ts';
import type { ChargeLine } from './charge-input.ts';
import { remainderOf } from './intermediate-invoice.ts';

/** Whose commitment the lines are held against, and the period its true-up is for. */
export interface CommittedInvoice {
  commitment: SubscriptionCommitment;
  currency: string;
  planName: string;
  periodStart: string;
  periodEnd: string;
}

/**
 * The lines of an invoice under the commitment of its subscription: usage above it on overage lines of its own directly after
 * the line they belong to, and what is missing on a line of its own at the end. spec: subscriptions-and-invoicing §2.7.1, §2.6.4
 */
export function commitCharges(lines: readonly ChargeLine[], invoice: CommittedInvoice): ChargeLine[] {
  const { commitment, currency } = invoice;
  if (!isActive(commitment)) return [...lines];
  const usage = lines.filter((line) => line.priceType === 'USAGE');
  const { charges, trueUp } = commitUsage(
    usage.map((line, index) => ({
      id: String(index),
      unitAmount: linearUnitAmount(line.derivation.price),
      quantity: decimal(line.quantity),
      cost: exactCost(line),
    })),
    commitment,
    currency,
  );
  const splits = new Map(usage.map((line, index) => [line, charges[index]!]));
  const split = lines.flatMap((line) => {
    const charge = splits.get(line);
    return charge ? splitLine(line, charge, commitment) : [line];
  });
  return trueUp.isZero() ? split : [...split, trueUpLine(invoice, trueUp)];
}

/** What a unit costs in the currency of the line where every unit costs the same; null for tiers, packages and percentages. */
function linearUnitAmount(price: PriceTerms): Decimal | null {
  return price.billing_model === 'FLAT_FEE' ? costInCurrency(decimal(price.amount ?? '0'), price) : null;
}

function exactCost({ derivation }: ChargeLine): Decimal {
  return sum(derivation.parts.map(ownCost));
}

/** The exact cost of a part without what intermediate invoices billed of it, whose cost counts as used up before. */
function ownCost({ cost, proration, billedBefore }: DerivedPart): Decimal {
  return decimal(remainderOf(decimalString(proratedCost(decimal(cost), proration)), billedBefore?.base ?? '0'));
}

function splitLine(line: ChargeLine, charge: CommittedCharge, commitment: SubscriptionCommitment): ChargeLine[] {
  const { within, overage } = charge;
  if (overage === null) return [wholeLine(line, commitment)];
  const above = {
    ...shareOf(line, overage, derivedShare('overage', commitment, overage)),
    displayName: `${line.displayName} (Overage)`,
    adjustedEntitlementQuantity: within === null ? line.adjustedEntitlementQuantity : null,
    metadata: {
      ...line.metadata,
      is_overage: 'true',
      overage_factor: decimalString(decimal(commitment.overageFactor)),
    },
  };
  return within === null ? [above] : [shareOf(line, within, derivedShare('within', commitment, within)), above];
}

/** A line that fits: only its derivation says so. */
function wholeLine(line: ChargeLine, commitment: SubscriptionCommitment): ChargeLine {
  const parts = line.derivation.parts.map((part) => {
    const amount = ownCost(part);
    const share = { quantity: decimal(part.quantity), base: amount, amount };
    return { ...part, commitment: derivedShare('within', commitment, share) };
  });
  return { ...line, derivation: { ...line.derivation, parts } };
}

/** A line of a share of the charge, told as one part over all its charge periods. */
function shareOf(line: ChargeLine, share: CommittedShare, commitment: DerivedCommitment): ChargeLine {
  const { derivation } = line;
  const { price, currency } = derivation;
  const [{ billedBefore: _, ...first }] = derivation.parts as [DerivedPart, ...DerivedPart[]];
  const amount = moneyString(roundToCurrency(share.amount, currency), currency);
  const quantity = decimalString(share.quantity);
  const unitCost = price.price_unit ? { unitCost: decimalString(share.amount.dividedBy(price.price_unit.rate)) } : {};
  const part: DerivedPart = {
    ...first,
    periodStart: line.periodStart,
    periodEnd: line.periodEnd,
    usage: first.usage && {
      ...first.usage,
      to: lastTo(derivation.parts),
      quantity: measuredQuantity(derivation.parts),
    },
    quantity,
    ...unitCost,
    exactAmount: decimalString(share.amount),
    amount,
    commitment,
  };
  return { ...line, quantity, amount, derivation: { ...derivation, parts: [part], amount } };
}

function measuredQuantity(parts: readonly DerivedPart[]): string {
  return decimalString(sum(parts.map((part) => decimal(part.usage?.quantity ?? '0'))));
}

function lastTo(parts: readonly DerivedPart[]): string {
  return parts.at(-1)?.usage?.to ?? '';
}

function derivedShare(
  kind: 'within' | 'overage',
  commitment: SubscriptionCommitment,
  { base, amount }: CommittedShare,
): DerivedCommitment {
  return {
    kind,
    committed: { type: 'amount', value: commitment.amount },
    prior: commitment.prior,
    overageFactor: commitment.overageFactor,
    base: decimalString(base),
    utilized: kind === 'within' ? decimalString(base) : '0',
    overage: kind === 'overage' ? decimalString(amount) : '0',
    trueUp: '0',
    windows: null,
    timeBuckets: 0,
  };
}

function trueUpLine(
  { commitment, currency, planName, periodStart, periodEnd }: CommittedInvoice,
  missing: Decimal,
): ChargeLine {
  const amount = moneyString(missing, currency);
  const price: PriceTerms = { billing_model: 'FLAT_FEE', currency, amount };
  const part: DerivedPart = {
    periodStart,
    periodEnd,
    usage: null,
    allowance: null,
    buckets: null,
    bucketCount: null,
    quantity: '1',
    steps: [],
    cost: decimalString(missing),
    proration: null,
    exactAmount: decimalString(missing),
    rounding: { precision: currencyPrecision(currency), mode: 'half_away_from_zero' },
    amount,
    commitment: {
      kind: 'true_up',
      committed: { type: 'amount', value: commitment.amount },
      prior: commitment.prior,
      overageFactor: commitment.overageFactor,
      base: '0',
      utilized: '0',
      overage: '0',
      trueUp: decimalString(missing),
      windows: null,
      timeBuckets: 0,
    },
  };
  return {
    subscriptionLineItemId: null,
    priceId: null,
    priceType: 'FIXED',
    invoiceCadence: 'ARREAR',
    displayName: `${planName} True Up`,
    meterId: null,
    quantity: '1',
    amount,
    adjustedEntitlementQuantity: null,
    periodStart,
    periodEnd,
    metadata: { is_commitment_trueup: 'true' },
    commitmentInfo: null,
    derivation: { version: 1, charge: 'fixed', currency, price, parts: [part], amount },
  };
}

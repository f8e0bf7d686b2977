import { explainCommitment } from './commitment-explanation.ts';
import type {
  Derivation,
  DerivedAllowance,
  DerivedPart,
  DerivedProration,
  DerivedUsage,
  ProrationReason,
} from './derivation.ts';
import { amountText, moneyText, shortInstant, watermarkInstant } from './explanation-text.ts';
import { explainGrants } from './grant-explanation.ts';
import { decimal } from './money.ts';
import type { CostStep, PriceTerms } from './price.ts';

type StepKind =
  | 'quantity'
  | 'usage'
  | 'allowance'
  | 'price'
  | 'conversion'
  | 'proration'
  | 'commitment'
  | 'rounding'
  | 'billed_before'
  | 'sum';

/** One step of a line's amount in words. `kind` says which part of the derivation it tells, or what happened after. */
export interface ExplanationStep {
  kind: StepKind | 'discount' | 'credit' | 'late_usage' | 'late_correction';
  sentence: string;
}

const prorationReasons: Record<ProrationReason, string> = {
  partly_active: 'the item was active for only this part of its charge period',
  first_calendar_period: 'the first calendar period begins inside a whole one',
  charge_window_cut: 'the boundary of the billing period cuts this charge window',
  period_cut_short: 'the billing period ended before its boundary',
};

/**
 * The derivation of a line in words, step by step, with the numbers as they are stored; nothing is computed. A meter is
 * called by its name, or by its id where the name is not known. design: architecture §7
 */
export function explainCharge(derivation: Derivation, meterName: string | null): ExplanationStep[] {
  const { parts, currency, amount } = derivation;
  const steps = parts.flatMap((part) => explainPart(part, derivation, meterName));
  if (parts.length < 2) return steps;
  const sentence = `The ${parts.length} charge periods add up to ${moneyText(amount, currency)}.`;
  return [...steps, { kind: 'sum', sentence }];
}

function explainPart(
  part: DerivedPart,
  { charge, price, currency }: Derivation,
  meterName: string | null,
): ExplanationStep[] {
  return [
    ...(part.usage ? explainUsage(part.usage, meterName) : explainQuantity(part, charge)),
    ...explainAllowance(part.allowance),
    ...(part.grants ? explainGrants(part.grants, currency) : []),
    ...(part.grants?.measure === 'amount' ? [] : [...explainPrice(part, price), ...explainConversion(part, price)]),
    ...explainProration(part, part.proration, currency),
    ...explainCommitment(part.commitment, part.exactAmount, currency),
    {
      kind: 'rounding',
      sentence: `Rounded once, half away from zero, to ${part.rounding.precision} decimals: ${moneyText(part.billedBefore?.wholeAmount ?? part.amount, currency)}.`,
    },
    ...explainBilledBefore(part, currency),
  ];
}

function explainBilledBefore({ billedBefore: before, amount }: DerivedPart, currency: string): ExplanationStep[] {
  if (!before) return [];
  const billed = `${moneyText(before.amount, currency)} for ${before.quantity}`;
  const sentence = `Invoices since ${shortInstant(before.from)} billed ${billed} of it already: ${moneyText(amount, currency)} is left.`;
  return [{ kind: 'billed_before', sentence }];
}

function explainQuantity(part: DerivedPart, charge: Derivation['charge']): ExplanationStep[] {
  const kind = charge === 'onetime' ? 'One-time charge' : 'Fixed charge';
  const sentence = `${kind} for a quantity of ${part.quantity} ${spanText(part.periodStart, part.periodEnd)}.`;
  return [{ kind: 'quantity', sentence }];
}

function explainUsage(usage: DerivedUsage, meterName: string | null): ExplanationStep[] {
  const meter = meterName ? `"${meterName}"` : usage.meterId;
  const asOf = watermarkInstant(usage.watermark);
  const known = asOf === null ? '' : `, counting every event received by ${shortInstant(asOf)}`;
  const sentence = `Meter ${meter} measured ${usage.quantity} ${spanText(usage.from, usage.to)}${known}.`;
  return [{ kind: 'usage', sentence }];
}

function spanText(start: string, end: string): string {
  return `from ${shortInstant(start)} until ${shortInstant(end)}`;
}

function explainAllowance(allowance: DerivedAllowance | null): ExplanationStep[] {
  if (allowance === null) return [];
  if (allowance.limit === null) {
    return [{ kind: 'allowance', sentence: 'The entitlement includes unlimited usage, so nothing of it is billed.' }];
  }
  const every = allowance.resetPeriod === null ? 'billing period' : `reset period (${allowance.resetPeriod})`;
  const windows = allowance.windows.map((window): ExplanationStep => {
    const ahead =
      window.aheadTotal === '0'
        ? ''
        : `, after other lines of the meter had used ${window.aheadBefore} before and ${window.aheadTotal} by its end`;
    return {
      kind: 'allowance',
      sentence: `From ${shortInstant(window.start)} until ${shortInstant(window.end)} usage went from ${window.usageBefore} to ${window.usageTotal}${ahead}: ${window.billable} is billable.`,
    };
  });
  return [
    { kind: 'allowance', sentence: `The entitlement includes ${allowance.limit} per ${every}.` },
    ...windows,
    {
      kind: 'allowance',
      sentence: `The entitlement took ${allowance.adjusted} off; ${allowance.billable} is billed.`,
    },
  ];
}

function explainPrice(part: DerivedPart, price: PriceTerms): ExplanationStep[] {
  const cost = moneyText(part.unitCost ?? part.cost, currencyOf(price));
  if (part.bucketCount !== null) return explainBuckets(part, part.bucketCount, cost, currencyOf(price));
  if (part.steps.length === 0) {
    return [{ kind: 'price', sentence: `A quantity of ${part.quantity} costs ${cost}.` }];
  }
  const steps = part.steps.map((step): ExplanationStep => ({ kind: 'price', sentence: stepSentence(step, price) }));
  if (steps.length === 1) return steps;
  return [...steps, { kind: 'price', sentence: `The tiers add up to ${cost}.` }];
}

/** How many buckets there were, what they come to, and the one that counts most as an example of how each was priced. */
function explainBuckets(part: DerivedPart, count: number, cost: string, currency: string): ExplanationStep[] {
  const bucketing = part.usage?.bucketing;
  const size = bucketing ? ` of ${bucketing.size} in ${bucketing.timezone}` : '';
  const buckets = `${count} ${count === 1 ? 'bucket' : 'buckets'}${size}`;
  const sentence = `${buckets}, each priced on its own from the start of the price, come to ${cost} for ${part.quantity}.`;
  return [{ kind: 'price', sentence }, ...explainGreatestBucket(part, currency)];
}

function explainGreatestBucket({ buckets, bucketValues }: DerivedPart, currency: string): ExplanationStep[] {
  const [value] = bucketValues ?? [];
  if (value) {
    const times = value.count === 1 ? 'one bucket' : `${value.count} buckets`;
    const sentence = `The greatest value, ${value.billable} in ${times}, costs ${moneyText(value.cost, currency)} each.`;
    return [{ kind: 'price', sentence }];
  }
  const [first] = buckets ?? [];
  if (!first || buckets?.length === 1) return [];
  const greatest = (buckets ?? []).reduce((a, b) => (decimal(b.billable).gt(a.billable) ? b : a), first);
  const group = greatest.group === '' ? '' : ` for "${greatest.group}"`;
  const sentence = `The greatest is that of ${shortInstant(greatest.start)}${group}: ${greatest.billable} costs ${moneyText(greatest.cost, currency)}.`;
  return [{ kind: 'price', sentence }];
}

function stepSentence(step: CostStep, price: PriceTerms): string {
  const currency = currencyOf(price);
  // What a percentage multiplies by is a rate, not money.
  const unit = price.billing_model === 'PERCENTAGE' ? step.unit_amount : amountText(step.unit_amount, currency);
  const flat = step.flat_amount === '0' ? '' : ` + ${amountText(step.flat_amount, currency)} flat`;
  const sum = `${step.quantity} × ${unit}${flat} = ${moneyText(step.amount, currency)}`;
  switch (price.billing_model) {
    case 'FLAT_FEE':
      return `Flat fee: ${sum}.`;
    case 'PACKAGE': {
      const round = price.transform_quantity?.round === 'down' ? 'a started one not counted' : 'a started one whole';
      return `Packages of ${price.transform_quantity?.divide_by ?? 1}, ${round}: ${sum}.`;
    }
    case 'PERCENTAGE':
      return `${price.percentage_rate ?? '0'} percent: ${sum}.`;
    case 'TIERED': {
      const bound = step.up_to === null ? 'without an upper bound' : `up to ${step.up_to}`;
      const whole = price.tier_mode === 'SLAB' ? 'the part in it' : 'the whole quantity';
      return `Tier ${step.tier ?? 1} (${bound}) prices ${whole}: ${sum}.`;
    }
  }
}

/** The currency a price's own amounts are in: its custom one if it has one. */
function currencyOf(price: PriceTerms): string {
  return price.price_unit?.code ?? price.currency;
}

function explainConversion(part: DerivedPart, { price_unit: unit, currency }: PriceTerms): ExplanationStep[] {
  if (!unit || part.unitCost === undefined) return [];
  const product = `${amountText(part.unitCost, unit.code)} × ${unit.rate} = ${moneyText(part.cost, currency)}`;
  return [{ kind: 'conversion', sentence: `One ${unit.code} is worth ${unit.rate} ${currency}: ${product}.` }];
}

function explainProration(part: DerivedPart, share: DerivedProration | null, currency: string): ExplanationStep[] {
  if (share === null) return [];
  const shareOfWhole = `${share.numeratorMs} of the ${share.denominatorMs} milliseconds`;
  const whole = spanText(share.fullStart, share.fullEnd);
  const product = `${amountText(part.cost, currency)} × ${share.numeratorMs} / ${share.denominatorMs}`;
  const sentence = `Billed for ${shareOfWhole} ${whole}, because ${prorationReasons[share.why]}: ${product} = ${moneyText(part.exactAmount, currency)}.`;
  return [{ kind: 'proration', sentence }];
}

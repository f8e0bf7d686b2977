import { decimal } from '../money/money.ts';
import type { DerivedPart } from '../price/derivation.ts';
import { modelOf } from '../price/price.ts';
import type { CostStep, PriceTerms } from '../price/price-terms.ts';
import type { ExplanationStep } from './explanation-step.ts';
import type { ExplanationWords } from './explanation-text.ts';

/** The walk through a price in words: a step a tier, or what the buckets come to. spec: catalogue-and-metering §4 */
export function explainPrice(part: DerivedPart, price: PriceTerms, words: ExplanationWords): ExplanationStep[] {
  const whole = part.unitCost ?? part.cost;
  const cost = words.money(whole, currencyOf(price));
  if (part.bucketCount !== null) return explainBuckets(part, part.bucketCount, price, words);
  if (part.steps.length === 0) {
    const sentence = `A quantity of ${words.quantity(part.quantity)} costs ${cost}.`;
    return [{ kind: 'price', sentence, ...inCurrencyOfLine(whole, price) }];
  }
  const steps = part.steps.map(
    (step): ExplanationStep => ({
      kind: 'price',
      sentence: stepSentence(step, price, words),
      ...inCurrencyOfLine(step.amount, price),
    }),
  );
  if (steps.length === 1) return steps;
  return [...steps, { kind: 'price', sentence: `The tiers add up to ${cost}.`, ...inCurrencyOfLine(whole, price) }];
}

/** What a cost in a custom currency is in the line's. spec: subscriptions-and-invoicing §2.15.10 */
export function explainConversion(
  part: DerivedPart,
  { price_unit: unit, currency }: PriceTerms,
  words: ExplanationWords,
): ExplanationStep[] {
  if (!unit || part.unitCost === undefined) return [];
  const product = `${words.digits(part.unitCost, unit.code)} × ${unit.rate} = ${words.money(part.cost, currency)}`;
  const sentence = `One ${unit.code} is worth ${unit.rate} ${currency}: ${product}.`;
  return [{ kind: 'conversion', sentence, amount: part.cost }];
}

/** How many buckets there were, what they come to, and the one that counts most as an example of how each was priced. */
function explainBuckets(
  part: DerivedPart,
  count: number,
  price: PriceTerms,
  words: ExplanationWords,
): ExplanationStep[] {
  const whole = part.unitCost ?? part.cost;
  const bucketing = part.usage?.bucketing;
  const size = bucketing ? ` of ${bucketing.size} in ${bucketing.timezone}` : '';
  const buckets = `${count} ${count === 1 ? 'bucket' : 'buckets'}${size}`;
  const cost = words.money(whole, currencyOf(price));
  const sentence = `${buckets}, each priced on its own from the start of the price, come to ${cost} for ${words.quantity(part.quantity)}.`;
  const total: ExplanationStep = { kind: 'price', sentence, ...inCurrencyOfLine(whole, price) };
  return [total, ...explainGreatestBucket(part, currencyOf(price), words)];
}

function explainGreatestBucket(
  { buckets, bucketValues }: DerivedPart,
  currency: string,
  words: ExplanationWords,
): ExplanationStep[] {
  const [value] = bucketValues ?? [];
  if (value) {
    const times = value.count === 1 ? 'one bucket' : `${value.count} buckets`;
    const sentence = `The greatest value, ${words.quantity(value.billable)} in ${times}, costs ${words.money(value.cost, currency)} each.`;
    return [{ kind: 'price', sentence }];
  }
  const [first] = buckets ?? [];
  if (!first || buckets?.length === 1) return [];
  const greatest = (buckets ?? []).reduce((a, b) => (decimal(b.billable).gt(a.billable) ? b : a), first);
  const group = greatest.group === '' ? '' : ` for ${words.name(greatest.group)}`;
  const sentence = `The greatest is that of ${words.instant(greatest.start)}${group}: ${words.quantity(greatest.billable)} costs ${words.money(greatest.cost, currency)}.`;
  return [{ kind: 'price', sentence }];
}

function stepSentence(step: CostStep, price: PriceTerms, words: ExplanationWords): string {
  const model = modelOf(price);
  const currency = currencyOf(price);
  const unit = model.unitIsRate ? step.unit_amount : words.digits(step.unit_amount, currency);
  const flat = step.flat_amount === '0' ? '' : ` + ${words.digits(step.flat_amount, currency)} flat`;
  const sum = `${words.quantity(step.quantity)} × ${unit}${flat} = ${words.money(step.amount, currency)}`;
  return `${model.stepLabel(step, price, words.quantity)}: ${sum}.`;
}

/** The currency a price's own amounts are in: its custom one if it has one. */
function currencyOf(price: PriceTerms): string {
  return price.price_unit?.code ?? price.currency;
}

/** Amounts of a step are those of the line's currency; what is in a custom one is only told. */
function inCurrencyOfLine(amount: string, price: PriceTerms): { amount?: string } {
  return price.price_unit ? {} : { amount };
}

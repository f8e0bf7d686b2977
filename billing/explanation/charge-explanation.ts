import type {
  Derivation,
  DerivedAllowance,
  DerivedAllowanceWindow,
  DerivedPart,
  DerivedProration,
  DerivedUsage,
  ProrationReason,
} from '../price/derivation.ts';
import { explainCommitment } from './commitment-explanation.ts';
import type { ExplanationStep } from './explanation-step.ts';
import { type ExplanationWords, exactWords, spanText, watermarkInstant, wholeUnits } from './explanation-text.ts';
import { explainGrants } from './grant-explanation.ts';
import { explainConversion, explainPrice } from './price-explanation.ts';

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
export function explainCharge(
  derivation: Derivation,
  meterName: string | null,
  words: ExplanationWords = exactWords,
): ExplanationStep[] {
  const { parts, currency, amount } = derivation;
  const steps = parts.flatMap((part) => explainPart(part, derivation, meterName, words));
  if (parts.length < 2) return steps;
  const sentence = `The ${parts.length} charge periods add up to ${words.money(amount, currency)}.`;
  return [...steps, { kind: 'sum', sentence, amount }];
}

function explainPart(
  part: DerivedPart,
  { charge, price, currency }: Derivation,
  meterName: string | null,
  words: ExplanationWords,
): ExplanationStep[] {
  const rounded = part.billedBefore?.wholeAmount ?? part.amount;
  const { precision } = part.rounding;
  return [
    ...(part.usage ? explainUsage(part.usage, meterName, words) : explainQuantity(part, charge, words)),
    ...explainAllowance(part.allowance, words),
    ...(part.grants ? explainGrants(part.grants, currency, words) : []),
    ...(part.grants?.measure === 'amount'
      ? []
      : [...explainPrice(part, price, words), ...explainConversion(part, price, words)]),
    ...explainProration(part, part.proration, currency, words),
    ...explainCommitment(part.commitment, part.exactAmount, currency, words),
    {
      kind: 'rounding',
      sentence: `Rounded to ${precision === 0 ? 'a whole amount' : `${precision} decimals`}: ${words.money(rounded, currency)}.`,
      amount: rounded,
    },
    ...explainBilledBefore(part, currency, words),
  ];
}

function explainBilledBefore(
  { billedBefore: before, amount }: DerivedPart,
  currency: string,
  words: ExplanationWords,
): ExplanationStep[] {
  if (!before) return [];
  const billed = `${words.money(before.amount, currency)} for ${words.quantity(before.quantity)}`;
  const sentence = `Invoices since ${words.instant(before.from)} billed ${billed} of it already: ${words.money(amount, currency)} is left.`;
  return [{ kind: 'billed_before', sentence, amount }];
}

function explainQuantity(part: DerivedPart, charge: Derivation['charge'], words: ExplanationWords): ExplanationStep[] {
  const kind = charge === 'onetime' ? 'One-time charge' : 'Fixed charge';
  const span = spanText(part.periodStart, part.periodEnd, words);
  return [{ kind: 'quantity', sentence: `${kind} for a quantity of ${words.quantity(part.quantity)} ${span}.` }];
}

function explainUsage(usage: DerivedUsage, meterName: string | null, words: ExplanationWords): ExplanationStep[] {
  const meter = meterName ? words.name(meterName) : usage.meterId;
  const asOf = watermarkInstant(usage.watermark);
  const known = asOf === null ? '' : `, counting every event received by ${words.instant(asOf)}`;
  const measured = `Meter ${meter} measured ${words.quantity(usage.quantity)}`;
  return [{ kind: 'usage', sentence: `${measured} ${spanText(usage.from, usage.to, words)}${known}.` }];
}

function explainAllowance(allowance: DerivedAllowance | null, words: ExplanationWords): ExplanationStep[] {
  if (allowance === null) return [];
  if (allowance.limit === null && allowance.windows.every(({ limit }) => limit == null)) {
    return [{ kind: 'allowance', sentence: 'Included is unlimited usage, so nothing of it is billed.' }];
  }
  const { quantity } = words;
  const every = allowance.resetPeriod === null ? 'billing period' : `reset period (${allowance.resetPeriod})`;
  const windows = allowance.windows.flatMap((window): ExplanationStep[] => {
    const ahead =
      window.aheadTotal === '0'
        ? ''
        : `, after other lines of the meter had used ${quantity(window.aheadBefore)} before and ${quantity(window.aheadTotal)} by its end`;
    const used = `usage went from ${quantity(window.usageBefore)} to ${quantity(window.usageTotal)}${ahead}`;
    const sentence = `${capital(spanText(window.start, window.end, words))} ${used}: ${quantity(window.billable)} is billable.`;
    return [...explainLimit(window, words), { kind: 'allowance', sentence }];
  });
  const whole = allowance.limit === null ? 'unlimited usage' : quantity(allowance.limit);
  return [
    { kind: 'allowance', sentence: `Included is ${whole} per ${every}.` },
    ...windows,
    {
      kind: 'allowance',
      sentence: `${quantity(allowance.adjusted)} of the usage is included, ${quantity(allowance.billable)} is billed.`,
    },
  ];
}

/** The limit of a window that is not the whole one: of a first calendar period, or around a change of plan. spec: §2.3.6 */
function explainLimit(
  { start, end, limit, shares = [] }: DerivedAllowanceWindow,
  words: ExplanationWords,
): ExplanationStep[] {
  if (limit === undefined) return [];
  const included = (text: string | null): string => (text === null ? 'unlimited usage' : words.quantity(text));
  const parts = shares.map(
    (share) =>
      `${included(share.share)} ${spanText(share.start, share.end, words)}, its share of ${included(share.limit)}`,
  );
  const sentence = `${capital(spanText(start, end, words))} ${included(limit)} is included: ${parts.join('; ') || 'no plan included any'}.`;
  return [{ kind: 'allowance', sentence }];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function explainProration(
  part: DerivedPart,
  share: DerivedProration | null,
  currency: string,
  words: ExplanationWords,
): ExplanationStep[] {
  if (share === null) return [];
  const { part: billed, whole, unit } = wholeUnits(share.numeratorMs, share.denominatorMs);
  const shareOfWhole = `${words.quantity(String(billed))} of ${words.quantity(String(whole))} ${unit}`;
  const span = spanText(share.fullStart, share.fullEnd, words);
  const product = `${words.digits(part.cost, currency)} × ${words.fraction(share.numeratorMs, share.denominatorMs)}`;
  const sentence = `Billed for ${shareOfWhole} ${span}, because ${prorationReasons[share.why]}: ${product} = ${words.money(part.exactAmount, currency)}.`;
  return [{ kind: 'proration', sentence, amount: part.exactAmount }];
}

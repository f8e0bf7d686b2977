import {
  type BillableBucket,
  type BillableQuantity,
  billableBuckets,
  billableQuantity,
  bucketWindows,
  type WindowUsage,
} from '../allowance/allowance.ts';
import type { CommittedAmount } from '../commitment/commitment.ts';
import { type Decimal, decimal, decimalString, moneyString, sum, zero } from '../money/money.ts';
import type { BilledBefore } from '../price/charge-amount.ts';
import { amountOfCost } from '../price/charge-amount.ts';
import type { Derivation, DerivedAllowance, DerivedPart, DerivedUsage } from '../price/derivation.ts';
import { costOfQuantity } from '../price/price.ts';
import { costInCurrency } from '../price/price-unit.ts';
import { priceBuckets } from './charge-bucketed.ts';
import { commitmentInfo, commitPart, type UsedCommitments } from './charge-commitment.ts';
import { type GrantedQuantity, measureGranted } from './charge-grant.ts';
import type {
  ChargeLine,
  PlannedCharge,
  PlannedGrants,
  PlannedPart,
  PlannedUsage,
  QuestionKeys,
  UsageAnswer,
} from './charge-input.ts';
import type { CycleGrants } from './charge-terms.ts';
import { remainderOf } from './intermediate-invoice.ts';

type Answers = Record<string, UsageAnswer>;

/** What is priced and why, before any money. */
interface Quantity {
  billable: Decimal;
  adjusted: Decimal | null;
  usage: DerivedUsage | null;
  allowance: DerivedAllowance | null;
  buckets: BillableBucket[] | null;
  /** Where budgets decide. */
  granted?: GrantedQuantity;
}

interface PricedPart {
  quantity: Quantity;
  grants: CycleGrants[];
  amount: Decimal;
  derived: DerivedPart;
  committed: CommittedAmount | null;
}

/**
 * Prices a plan with the answers by question key: cost of the billable quantity, times the proration, rounded once; a folded
 * line adds its rounded parts. `prior` is what earlier invoices used of commitments of several charge periods, by `commitmentKey`.
 * A missing answer is a bug and throws. spec: subscriptions-and-invoicing §2.6.2, §2.6.3, §2.7
 */
export function priceCharges(
  planned: readonly PlannedCharge[],
  answers: Answers,
  prior: Readonly<Record<string, string>> = {},
): ChargeLine[] {
  const used: UsedCommitments = new Map(Object.entries(prior).map(([key, base]) => [key, decimal(base)]));
  return planned.map((charge) => priceCharge(charge, answers, used));
}

function priceCharge(charge: PlannedCharge, answers: Answers, used: UsedCommitments): ChargeLine {
  const { item, currency } = charge;
  const parts = charge.parts.map((part) => pricePart(part, charge, answers, used));
  const quantity = sum(parts.map(billedQuantity));
  const amount = moneyString(sum(parts.map((part) => part.amount)), currency);
  const grants = parts.flatMap((part) => part.grants);
  const adjusted = parts.map((part) => part.quantity.adjusted).filter((value) => value !== null);
  const derivation: Derivation = {
    version: 1,
    charge: charge.charge,
    currency,
    price: item.price,
    parts: parts.map((part) => part.derived),
    amount,
  };
  return {
    subscriptionLineItemId: item.id,
    priceId: item.priceId,
    priceType: item.priceType,
    invoiceCadence: item.invoiceCadence,
    displayName: item.displayName,
    meterId: item.meterId,
    quantity: decimalString(quantity),
    amount,
    adjustedEntitlementQuantity: adjusted.length === 0 ? null : decimalString(sum(adjusted)),
    periodStart: charge.periodStart,
    periodEnd: charge.periodEnd,
    metadata: metadataOf(charge),
    commitmentInfo: infoOf(charge, parts),
    derivation,
    ...(grants.length > 0 ? { grants } : {}),
  };
}

function infoOf({ item, currency }: PlannedCharge, parts: readonly PricedPart[]): ChargeLine['commitmentInfo'] {
  const committed = parts.flatMap((part) => part.committed ?? []);
  if (!item.commitment || committed.length === 0) return null;
  return commitmentInfo(item.commitment, item.billingPeriod, committed, currency);
}

/** What of the part's quantity no earlier invoice has billed. */
function billedQuantity({ quantity, derived }: PricedPart): Decimal {
  const { billedBefore } = derived;
  return billedBefore ? decimal(remainderOf(derived.quantity, billedBefore.quantity)) : quantity.billable;
}

function metadataOf(charge: PlannedCharge): Record<string, string> {
  const metadata: Record<string, string> = {};
  if (charge.parts.some((part) => part.proration !== null)) metadata.is_prorated = 'true';
  if (charge.folded) metadata.charge_periods = String(charge.parts.length);
  const reset = charge.parts[0]?.usage?.allowance?.usageResetPeriod;
  if (reset) metadata.usage_reset_period = reset;
  return metadata;
}

function pricePart(part: PlannedPart, charge: PlannedCharge, answers: Answers, used: UsedCommitments): PricedPart {
  const { item, currency } = charge;
  const quantity = part.usage ? measured(part.usage, answers) : fixedQuantity(item.quantity);
  const { granted = null } = quantity;
  const grants = granted?.cycles ?? [];
  const buckets = quantity.buckets && priceBuckets(item.price, quantity.buckets);
  const whole = granted?.money ?? buckets?.cost ?? null;
  const { cost, steps } = whole ? { cost: whole, steps: [] } : costOfQuantity(item.price, quantity.billable);
  const inCurrency = granted?.money ?? costInCurrency(cost, item.price);
  const { amount, derived: amounts } = amountOfCost(inCurrency, part.proration, currency, part.billedBefore);
  const derived: DerivedPart = {
    periodStart: part.start,
    periodEnd: part.end,
    usage: quantity.usage,
    allowance: quantity.allowance,
    ...(granted ? { grants: granted.derived } : {}),
    buckets: buckets?.listed ?? null,
    bucketCount: buckets?.count ?? null,
    bucketValues: buckets?.byValue ?? null,
    quantity: decimalString(quantity.billable),
    steps,
    ...(item.price.price_unit && !granted?.money ? { unitCost: decimalString(cost) } : {}),
    ...amounts,
  };
  const { id, commitment, price } = item;
  if (!commitment || !part.usage) return { quantity, grants, amount, derived, committed: null };
  const held = commitPart({ id, commitment, price }, part, quantity, inCurrency, used);
  return { quantity, grants, ...withCommitment(derived, held, currency, part.billedBefore) };
}

/** The part at what its commitment makes of it. spec: subscriptions-and-invoicing §2.7.3 */
function withCommitment(
  derived: DerivedPart,
  { committed, derived: commitment }: ReturnType<typeof commitPart>,
  currency: string,
  before: BilledBefore | undefined,
): Pick<PricedPart, 'amount' | 'derived' | 'committed'> {
  const { amount, derived: amounts } = amountOfCost(committed.amount, null, currency, before);
  const { cost: _, proration: __, ...ofCommitment } = amounts;
  return { amount, committed, derived: { ...derived, ...ofCommitment, commitment } };
}

function fixedQuantity(quantity: string): Quantity {
  return { billable: decimal(quantity), adjusted: null, usage: null, allowance: null, buckets: null };
}

/** The billable quantity of a usage part: what the meter answered less what the allowance forgives. */
function measured(planned: PlannedUsage, answers: Answers): Quantity {
  const answer: UsageAnswer = planned.main === null ? { quantity: '0' } : answerOf(planned.main, answers);
  if (planned.grants) return grantedQuantity(planned, planned.grants, answer);
  const raw = decimal(answer.quantity);
  const rows = planned.bucketing ? (answer.buckets ?? []) : null;
  const usage = {
    meterId: planned.meterId,
    from: planned.from,
    to: planned.to,
    quantity: decimalString(raw),
    watermark: answer.watermark ?? null,
    bucketing: planned.bucketing,
  };
  const usages = windowUsages(planned, rows, answers);
  const result = billableQuantity(planned.allowance, raw, usages);
  const allowance = planned.allowance && derivedAllowance(planned, usages, result);
  const adjusted = planned.allowance ? result.adjusted : null;
  if (!rows) return { billable: result.billable, adjusted, usage, allowance, buckets: null };
  const forgiven = forgivenOfWindows(planned, usages, result, raw);
  const windows = planned.windows.length > 0 ? planned.windows : [{ start: planned.from, end: planned.to }];
  const buckets = billableBuckets(rows, windows, forgiven);
  const billable = sum(buckets.map((bucket) => bucket.billable));
  return { billable, adjusted: planned.allowance ? raw.minus(billable) : null, usage, allowance, buckets };
}

/** The billable quantity of a usage part with budgets. */
function grantedQuantity(planned: PlannedUsage, grants: PlannedGrants, answer: UsageAnswer): Quantity {
  const granted = measureGranted({ ...planned, grants }, answer);
  const { billable, adjusted, usage } = granted;
  return { billable, adjusted, usage, allowance: null, buckets: null, granted };
}

type Usages = Required<Omit<WindowUsage, 'limit'>> & Pick<WindowUsage, 'limit'>;

function windowUsages(planned: PlannedUsage, rows: UsageAnswer['buckets'] | null, answers: Answers): Usages[] {
  const inWindow = planned.windows.map(() => zero);
  if (rows && planned.windows.length > 0) {
    const starts = rows.map((row) => row.start);
    for (const [index, position] of bucketWindows(starts, planned.windows).entries()) {
      inWindow[position] = inWindow[position]!.plus(rows[index]!.value);
    }
  }
  return planned.windows.map((window, position) => {
    const before = added(window.before, answers);
    return {
      before,
      total: rows ? before.plus(inWindow[position]!) : added(window.total, answers),
      aheadBefore: added(window.aheadBefore, answers),
      aheadTotal: added(window.aheadTotal, answers),
      ...(window.limit === undefined ? {} : { limit: window.limit }),
    };
  });
}

/** How much of each window's buckets the allowance takes away. */
function forgivenOfWindows(planned: PlannedUsage, usages: Usages[], result: BillableQuantity, raw: Decimal): Decimal[] {
  if (planned.windows.length === 0) return [planned.allowance?.usageLimit === null ? raw : zero];
  return usages.map(({ before, total }, position) => total.minus(before).minus(result.ofWindow[position]!));
}

function derivedAllowance(planned: PlannedUsage, usages: Usages[], result: BillableQuantity): DerivedAllowance {
  return {
    limit: planned.allowance!.usageLimit,
    resetPeriod: planned.allowance!.usageResetPeriod,
    windows: planned.windows.map(({ start, end, limit, shares }, position) => ({
      start,
      end,
      ...(limit === undefined ? {} : { limit, shares: shares ?? [] }),
      usageBefore: decimalString(usages[position]!.before),
      usageTotal: decimalString(usages[position]!.total),
      aheadBefore: decimalString(usages[position]!.aheadBefore),
      aheadTotal: decimalString(usages[position]!.aheadTotal),
      billable: decimalString(result.ofWindow[position]!),
    })),
    billable: decimalString(result.billable),
    adjusted: decimalString(result.adjusted),
  };
}

function added(keys: QuestionKeys, answers: Answers): Decimal {
  return sum(keys.map((key) => decimal(answerOf(key, answers).quantity)));
}

function answerOf(key: string, answers: Answers): UsageAnswer {
  const answer = answers[key];
  if (!answer) throw new Error(`usage question ${key} has no answer`);
  return answer;
}

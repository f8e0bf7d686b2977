import type { BillableBucket } from '../allowance/allowance.ts';
import { type CommittedAmount, commitLine } from '../commitment/commitment.ts';
import { bucketStarts } from '../commitment/commitment-grid.ts';
import {
  type CommitmentTerms,
  committedMoney,
  sumOfWindows,
  type UsageWindow,
  windowCommitter,
} from '../commitment/commitment-window.ts';
import {
  type Decimal,
  decimal,
  decimalString,
  greatest,
  moneyString,
  roundToCurrency,
  sum,
  zero,
} from '../money/money.ts';
import type { DerivedCommitment } from '../price/derivation.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { epochMs } from '../time/local-time.ts';
import type { PlannedPart } from './charge-input.ts';
import type { CommitmentInfo, ItemCommitment, PartOfCommitment } from './charge-terms.ts';

/**
 * Base cost that was used of the commitments of items that last several charge periods, by `commitmentKey`: what earlier invoices
 * billed of the same commitment period. Counted on while an invoice is priced.
 */
export type UsedCommitments = Map<string, Decimal>;

/** Names a commitment period of an item. */
export function commitmentKey(itemId: string, periodStart: string): string {
  return `${itemId} ${periodStart}`;
}

/** The same of a line that somebody gave, where null is what was not said. */
export interface GivenCommitmentInfo
  extends Pick<CommitmentInfo, 'type' | 'amount' | 'quantity' | 'overage_factor' | 'is_windowed' | 'true_up_enabled'> {
  duration: string | null;
  computed_commitment_utilized_amount: string | null;
  computed_overage_amount: string | null;
  computed_true_up_amount: string | null;
}

/** What was measured for a part, before any money. */
interface Measured {
  billable: Decimal;
  buckets: BillableBucket[] | null;
}

/**
 * What a part of a line comes to under the commitment of its item: the rule on its cost, or on that of every bucket of the
 * meter. With true-up empty buckets count too. An amount that is missing over a whole period is due only when the period is
 * over, not on an invoice that closes a part of it. A commitment of several charge periods goes on from one to the next, on one
 * invoice as over many. spec: subscriptions-and-invoicing §2.7.2 – §2.7.5
 */
export function commitPart(
  item: { id: string; commitment: ItemCommitment; price: PriceTerms },
  part: PlannedPart,
  measured: Measured,
  cost: Decimal,
  used: UsedCommitments,
): { committed: CommittedAmount; derived: DerivedCommitment } {
  const { commitment, price } = item;
  if (commitment.windowed && measured.buckets && part.usage) {
    const windows = windowsOf(commitment, part.usage, measured.buckets);
    const committer = windowCommitter({
      price,
      line: commitment.timeBuckets.length > 0 ? null : commitment,
      timeBuckets: commitment.timeBuckets,
    });
    const { base, ...committed } = sumOfWindows(windows.map(committer));
    return { committed, derived: derivedOf(commitment, committed, base, windows.length) };
  }
  if (part.commitmentPeriod) return commitOfSeveral(item, part, part.commitmentPeriod, cost, used);
  const money = committedMoney(commitment, price);
  const committed = commitLine(cost, { ...money, trueUp: money.trueUp && !part.unfinished });
  return { committed, derived: derivedOf(commitment, committed, cost, null) };
}

function commitOfSeveral(
  { id, commitment, price }: { id: string; commitment: ItemCommitment; price: PriceTerms },
  { billedBefore }: PlannedPart,
  { start, last }: PartOfCommitment,
  cost: Decimal,
  used: UsedCommitments,
): { committed: CommittedAmount; derived: DerivedCommitment } {
  const key = commitmentKey(id, start);
  const prior = used.get(key) ?? zero;
  used.set(key, prior.plus(cost));
  const money = committedMoney(commitment, price, decimalString(prior));
  const committed = commitLine(cost, { ...money, trueUp: money.trueUp && last });
  // What intermediate invoices billed of the charge period they tell themselves.
  const base = greatest(cost.minus(billedBefore?.base ?? '0'), zero);
  const derived = derivedOf(commitment, committed, base, null);
  return { committed, derived: { ...derived, prior: decimalString(prior), since: start } };
}

function windowsOf(
  commitment: ItemCommitment,
  usage: NonNullable<PlannedPart['usage']>,
  buckets: readonly BillableBucket[],
): UsageWindow[] {
  const byStart = Map.groupBy(buckets, (bucket) => bucket.start);
  const used = [...byStart].map(([start, own]) => windowOf(start, own));
  const toppedUp = commitment.timeBuckets.length > 0 ? commitment.timeBuckets.some(isTrueUp) : commitment.trueUp;
  if (!toppedUp || !usage.bucketing || usage.main === null) return used;
  const empty = [...bucketStarts({ start: usage.from, end: usage.to }, usage.bucketing)].filter(
    (start) => !byStart.has(start),
  );
  return [...used, ...empty.map((start) => windowOf(start, []))];
}

function isTrueUp(terms: CommitmentTerms): boolean {
  return terms.trueUp;
}

function windowOf(start: string, buckets: readonly BillableBucket[]): UsageWindow {
  const minute = Math.floor(epochMs(start) / 60_000) % 1440;
  return { start, minute, quantities: buckets.map((bucket) => bucket.billable) };
}

function derivedOf(
  commitment: ItemCommitment,
  committed: CommittedAmount,
  base: Decimal,
  windows: number | null,
): DerivedCommitment {
  return {
    kind: 'line',
    committed: { type: commitment.type, value: commitment.value },
    prior: '0',
    overageFactor: commitment.overageFactor,
    base: decimalString(base),
    utilized: decimalString(committed.utilized),
    overage: decimalString(committed.overage),
    trueUp: decimalString(committed.trueUp),
    windows,
    timeBuckets: commitment.timeBuckets.length,
  };
}

/** What a line shows of its commitment; the amounts of folded parts are added up, each rounded once. spec: §2.7.3, §2.6.3 */
export function commitmentInfo(
  commitment: ItemCommitment,
  billingPeriod: string,
  parts: readonly CommittedAmount[],
  currency: string,
): CommitmentInfo {
  const added = (member: keyof CommittedAmount): string =>
    moneyString(sum(parts.map((part) => roundToCurrency(part[member], currency))), currency);
  return {
    type: commitment.type,
    amount: commitment.type === 'amount' ? decimalString(decimal(commitment.value)) : null,
    quantity: commitment.type === 'quantity' ? decimalString(decimal(commitment.value)) : null,
    overage_factor: decimalString(decimal(commitment.overageFactor)),
    duration: commitment.duration ?? billingPeriod,
    is_windowed: commitment.windowed,
    true_up_enabled: commitment.trueUp,
    computed_commitment_utilized_amount: added('utilized'),
    computed_overage_amount: added('overage'),
    computed_true_up_amount: added('trueUp'),
  };
}

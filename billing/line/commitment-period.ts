import { isCumulative } from '../commitment/commitment-duration.ts';
import { type ChargeCadence, cadenceRelation } from '../time/cadence.ts';
import {
  type BillingPeriod,
  type Cadence,
  type Interval,
  periodContaining,
  previousBoundary,
} from '../time/calendar.ts';
import type { ChargeItem, ChargePeriod, ChargeReason, ChargeSubscription } from './charge-input.ts';
import type { PartOfCommitment } from './charge-terms.ts';

/** What decides the commitment periods of a subscription; straight from its row. */
export interface CommittedCadence extends Omit<Cadence, 'anchor'> {
  billingAnchor: string;
  startDate: string;
  trialEnd: string | null;
}

/** A commitment period, and whether it is longer than a billing period. */
export interface CommitmentPeriod extends Interval {
  cumulative: boolean;
}

/**
 * The commitment period that a billed period belongs to: the one that holds its start, in steps of the duration from the
 * subscription's start (or trial end); without a duration, or with one of a billing period, the whole billing period, also
 * where it is billed in stretches. spec: subscriptions-and-invoicing §2.7.1, §2.7.2
 */
export function commitmentPeriod(
  subscription: CommittedCadence,
  duration: BillingPeriod | null,
  billed: Interval & { full: Interval },
): CommitmentPeriod {
  if (!isCumulative(subscription, duration)) {
    const start = previousBoundary({
      ...subscription,
      anchor: subscription.billingAnchor,
      boundary: billed.full.end,
    });
    return { start, end: billed.full.end, cumulative: false };
  }
  const from = subscription.trialEnd ?? subscription.startDate;
  const period = stepContaining(duration!, { from, timezone: subscription.timezone, instant: billed.start });
  return { ...(period ?? billed.full), cumulative: true };
}

/** The step of a duration, counted from an instant on, that holds another instant; null before the first. */
function stepContaining(
  duration: BillingPeriod,
  { from, timezone, instant }: { from: string; timezone: string; instant: string },
): Interval | null {
  const period = periodContaining({
    anchor: from,
    billingPeriod: duration,
    billingPeriodCount: 1,
    billingCycle: 'anniversary',
    timezone,
    firstPeriodStart: from,
    instant,
  });
  return period?.full ?? null;
}

/** How often an item is charged, and its commitment held against it: days and weeks inside months once a period. spec: §2.6.3 */
export function chargedEvery<Every extends ChargeCadence>(item: Every, subscription: Every): Every {
  return cadenceRelation(item, subscription) === 'finer' ? subscription : item;
}

/**
 * The commitment period that holds the start of a charge period, where the item's commitment lasts several of them; null where it is
 * held against each alone, as it is bucket by bucket. spec: subscriptions-and-invoicing §2.7.3, §2.7.2
 */
export function partOfCommitment(
  item: ChargeItem,
  window: Interval,
  subscription: ChargeSubscription,
): PartOfCommitment | null {
  const { commitment } = item;
  if (!commitment || commitment.windowed || commitment.duration === null) return null;
  const cadence = chargedEvery<Pick<ChargeItem, 'billingPeriod' | 'billingPeriodCount'>>(item, subscription);
  if (!isCumulative(cadence, commitment.duration)) return null;
  const { trialEnd, startDate, billingAnchor, timezone } = subscription;
  const from = trialEnd ?? startDate ?? billingAnchor;
  const period = stepContaining(commitment.duration, { from, timezone, instant: window.start }) ?? window;
  return { start: period.start, last: window.end >= period.end };
}

/** An invoice that usage is held against a commitment on. */
export interface CommittedStretch {
  reason: ChargeReason;
  elapsed: ChargePeriod;
  /** True for the closing of a pause. */
  pauses: boolean;
  /** Paused stretches of the subscription that are over. */
  paused: readonly Interval[];
}

/** The commitment period of a billed stretch, and whether what is missing of the commitment is due with it. */
export interface CommitmentStanding {
  period: CommitmentPeriod;
  last: boolean;
}

/**
 * Where a commitment stands on an invoice; null where it is not held against it. What a pause compared with the commitment of one
 * billing period is not compared again after a resume in the same period; one of several goes on counting, as it counts what
 * earlier invoices used. spec: subscriptions-and-invoicing §2.7.1, §2.7.2, §2.11
 */
export function commitmentStanding(
  subscription: CommittedCadence,
  duration: BillingPeriod | null,
  { reason, elapsed, pauses, paused }: CommittedStretch,
): CommitmentStanding | null {
  const period = commitmentPeriod(subscription, duration, elapsed);
  if (period.cumulative) return { period, last: elapsed.end >= period.end };
  if (paused.some(({ start, end }) => end === elapsed.start && start >= elapsed.full.start)) return null;
  return { period, last: pauses || ['cycle', 'last', 'preview'].includes(reason) };
}

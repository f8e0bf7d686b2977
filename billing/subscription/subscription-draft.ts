import { refuse } from '../refusal.ts';
import { billingAnchor, localDaysBetween } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import { openSubscription, type SubscriptionState, type SubscriptionStatus } from './subscription.ts';
import { requireTransition, statusAfter } from './subscription-lifecycle.ts';

/**
 * A draft at its real start: anchor, first period and trial are computed anew from there, the trial with as many days as it
 * had; an anchor of its own stays. `statusWithoutTrial` is what collection decides of a subscription without a trial.
 * spec: subscriptions-and-invoicing §2.4.1, §2.2.2
 */
export function activateDraft(
  draft: SubscriptionState,
  startDate: string,
  statusWithoutTrial: SubscriptionStatus,
): SubscriptionState {
  requireTransition('activate', draft.status);
  if (draft.endDate !== null && draft.endDate < startDate) {
    throw refuse('validation_error', `start_date must not be after end_date, ${draft.endDate}`, {
      fields: { start_date: `must not be after ${draft.endDate}` },
    });
  }
  const { billingPeriod, billingPeriodCount, billingCycle, timezone, endDate } = draft;
  const timeline = { billingPeriod, billingPeriodCount, billingCycle, timezone, startDate, endDate };
  const own = billingCycle === 'anniversary' && draft.billingAnchor !== draft.startDate;
  const anchor = billingAnchor({ ...timeline, requestedAnchor: own ? draft.billingAnchor : null });
  const trialDays =
    draft.trialStart !== null && draft.trialEnd !== null
      ? localDaysBetween(draft.trialStart, draft.trialEnd, timezone)
      : 0;
  const opened = openSubscription({ ...timeline, billingAnchor: anchor, trialDays }, statusWithoutTrial);
  return { ...opened, status: statusAfter('activate', draft.status, opened.status) };
}

/** What hangs on a draft and has dates. */
export interface DraftPart {
  start: string;
  end: string | null;
  /** An instant before which it cannot be in force: the start of its price. */
  notBefore?: string;
  /** An end that does not move: that of its price, or of the subscription. */
  fixedEnd?: boolean;
}

/**
 * The dates of a part of a draft that moves by the same shift; one whose price starts later keeps that later start.
 * spec: subscriptions-and-invoicing §2.4.1
 */
export function shiftedPart(part: DraftPart, from: string, to: string): { start: string; end: string | null } {
  const shift = epochMs(to) - epochMs(from);
  const moved = (instant: string) => instantText(epochMs(instant) + shift);
  const { notBefore } = part;
  const bound = notBefore !== undefined && part.start === notBefore && notBefore > from;
  const candidate = bound ? to : moved(part.start);
  const start = notBefore !== undefined && notBefore > candidate ? notBefore : candidate;
  const end = part.end === null || part.fixedEnd ? part.end : moved(part.end);
  return { start, end: end !== null && end < start ? start : end };
}

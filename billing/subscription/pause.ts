import { refuse } from '../refusal.ts';
import type { Interval } from '../time/calendar.ts';
import type { Period, SubscriptionState } from './subscription.ts';
import { statusAfter } from './subscription-lifecycle.ts';

/** A pause of the past, or the one that is open. */
export interface PauseInterval {
  pauseStart: string;
  resumedAt: string | null;
}

export interface PausedSubscription {
  state: SubscriptionState;
  /** What the closing invoice bills in arrear; empty when the pause falls on the period's start. */
  closing: Period;
}

/**
 * Pauses a subscription at `now`: the current period begins there and ends where it did. Only an active one that has begun may
 * be paused; boundaries up to `now` are closed before. spec: subscriptions-and-invoicing §2.11
 */
export function pauseSubscription(
  state: SubscriptionState,
  now: string,
  earlierPauses: readonly PauseInterval[],
): PausedSubscription {
  const status = statusAfter('pause', state.status, 'paused');
  if (now < state.currentPeriodStart) {
    throw refuse('validation_error', `the subscription starts at ${state.currentPeriodStart}; pause it from then on`);
  }
  // One instant holds one closing invoice and one charge: a pause that lasted no time is not begun again within it.
  if (earlierPauses.some((pause) => pause.pauseStart === now || pause.resumedAt === now)) {
    throw refuse('validation_error', `a pause of the subscription began or ended at ${now} already; pause it later`);
  }
  return {
    state: { ...state, status, currentPeriodStart: now },
    closing: { start: state.currentPeriodStart, end: now },
  };
}

export interface ResumedSubscription {
  state: SubscriptionState;
  /** The stretch that gets a skipped invoice; null when it is empty. */
  skipped: Period | null;
}

/** Resumes a paused subscription at `now`, once the boundaries up to then are closed. spec: subscriptions-and-invoicing §2.11 */
export function resumeSubscription(state: SubscriptionState, now: string): ResumedSubscription {
  const status = statusAfter('resume', state.status, 'active');
  const { currentPeriodStart } = state;
  return {
    state: { ...state, status, currentPeriodStart: now },
    skipped: currentPeriodStart < now ? { start: currentPeriodStart, end: now } : null,
  };
}

/** What a resume knows when it charges for the rest of the period. */
export interface ResumeTerms {
  behavior: 'create_prorations' | 'none';
  now: string;
  pauseStart: string;
  /** Start of the whole billing period that holds `now`. */
  wholeStart: string;
  /** The times of which the pause gave something back. */
  credited: readonly (Interval & { lineItemId: string })[];
}

/** A charge period of an ADVANCE item of which a part lies ahead. */
export interface ResumableCharge {
  lineItemId: string;
  /** When the item came into force. */
  itemStart: string;
  window: Interval;
  /** Whether the item runs periods of its own, longer than the subscription's. */
  ownPeriods: boolean;
}

/**
 * Whether a resume charges an ADVANCE item for the rest of a charge period: never what the customer has paid for already,
 * because the pause began within the period, at its very start too, and gave nothing back of it; with `none` only on the very
 * boundary. spec: subscriptions-and-invoicing §2.11 Charge at resume, §2.6.1
 */
export function chargesAtResume(terms: ResumeTerms, charge: ResumableCharge): boolean {
  const periodStart = charge.ownPeriods ? charge.window.start : terms.wholeStart;
  if (terms.behavior === 'none' && terms.now !== periodStart) return false;
  const paidBefore = terms.pauseStart >= periodStart && charge.itemStart <= terms.pauseStart;
  return !paidBefore || wasGivenBack(terms, charge);
}

/** Whether the pause gave something back of a charge period. */
export function wasGivenBack(terms: ResumeTerms, charge: ResumableCharge): boolean {
  return terms.credited.some((credit) => gaveBack(credit, charge));
}

function gaveBack(credit: ResumeTerms['credited'][number], { lineItemId, window }: ResumableCharge): boolean {
  return lineItemId === credit.lineItemId && credit.start < window.end && credit.end > window.start;
}

import { refuse } from '../refusal.ts';
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

import { refuse } from '../refusal.ts';
import { earlier, later } from '../time/calendar.ts';
import { wholePeriodAt } from '../time/whole-period.ts';
import type { SubscriptionState } from './subscription.ts';
import { requireTransition } from './subscription-lifecycle.ts';

export type CancellationType = 'immediate' | 'scheduled_date' | 'end_of_period';

export interface CancelRequest {
  cancellationType: CancellationType;
  cancelAt: string | null;
}

export interface Cancellation {
  state: SubscriptionState;
  effectiveDate: string;
  /** True when a date before the current period was moved to the period's start. */
  clamped: boolean;
  /** True when the end is still to come and a schedule records it. */
  scheduled: boolean;
}

/**
 * Cancels a subscription at once, at a date or at the end of its period; refuses what its state does not allow, naming
 * the state. `alreadyScheduled` says that another cancellation is pending. spec: subscriptions-and-invoicing §2.12, errors 26–28
 */
export function cancelSubscription(
  state: SubscriptionState,
  request: CancelRequest,
  now: string,
  alreadyScheduled: boolean,
): Cancellation {
  if (request.cancellationType === 'immediate') {
    requireTransition('cancelNow', state.status);
    return cancelNow(state, request.cancelAt, now);
  }
  requireTransition('cancelLater', state.status);
  if (alreadyScheduled) {
    throw refuse(
      'validation_error',
      'a cancellation is already scheduled; cancel that schedule first or cancel with immediate',
    );
  }
  return request.cancellationType === 'scheduled_date'
    ? cancelAtDate(state, request.cancelAt, now)
    : cancelAtPeriodEnd(state);
}

function cancelNow(state: SubscriptionState, cancelAt: string | null, now: string): Cancellation {
  if (cancelAt !== null && cancelAt > now) {
    throw refuse(
      'validation_error',
      'cancel_at lies in the future: use cancellation_type scheduled_date for a later end',
      {
        fields: { cancel_at: 'must not be in the future with cancellation_type immediate' },
      },
    );
  }
  const requested = cancelAt ?? now;
  const effectiveDate = later(requested, state.currentPeriodStart);
  return {
    state: {
      ...state,
      status: 'cancelled',
      cancelledAt: now,
      cancelAt: effectiveDate,
      endDate: effectiveDate,
      currentPeriodEnd: effectiveDate,
      cancelAtPeriodEnd: false,
    },
    effectiveDate,
    clamped: effectiveDate !== requested,
    scheduled: false,
  };
}

function cancelAtDate(state: SubscriptionState, cancelAt: string | null, now: string): Cancellation {
  if (cancelAt === null || cancelAt <= now) {
    throw refuse('validation_error', 'cancellation_type scheduled_date needs a cancel_at in the future', {
      fields: { cancel_at: cancelAt === null ? 'required' : 'must be in the future' },
    });
  }
  const requested = state.endDate === null ? cancelAt : earlier(state.endDate, cancelAt);
  // What has not begun ends where it would have begun, without a period before it.
  const effectiveDate = later(requested, state.currentPeriodStart);
  const currentPeriodEnd = earlier(effectiveDate, state.currentPeriodEnd);
  return {
    state: { ...state, cancelAt: effectiveDate, endDate: effectiveDate, currentPeriodEnd },
    effectiveDate,
    clamped: effectiveDate !== requested,
    scheduled: true,
  };
}

function cancelAtPeriodEnd(state: SubscriptionState): Cancellation {
  return {
    state: { ...state, cancelAtPeriodEnd: true, cancelAt: state.currentPeriodEnd },
    effectiveDate: state.currentPeriodEnd,
    clamped: false,
    scheduled: true,
  };
}

/** What a scheduled end replaced. */
export interface BeforeCancellation {
  cancelAt: string | null;
  endDate: string | null;
}

/**
 * Takes a scheduled end back: the earlier dates count again, and the current period ends where it would have without it.
 * spec: subscriptions-and-invoicing §2.4 scheduled, §2.9.4
 */
export function keepSubscription(state: SubscriptionState, before: BeforeCancellation): SubscriptionState {
  requireTransition('keep', state.status);
  const kept = { ...state, ...before, cancelAtPeriodEnd: false };
  const uncut =
    state.status === 'trialing' && state.trialEnd !== null
      ? state.trialEnd
      : wholePeriodAt(state, state.currentPeriodStart).end;
  const ends = [before.cancelAt, before.endDate].filter((instant) => instant !== null);
  return { ...kept, currentPeriodEnd: ends.reduce(earlier, uncut) };
}

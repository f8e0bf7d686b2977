import { type BillingCycle, type BillingPeriod, nextBoundary, trialEnd } from '../time/calendar.ts';
import { findsItsBoundaries } from '../time/whole-period.ts';

export type SubscriptionStatus = 'draft' | 'trialing' | 'incomplete' | 'active' | 'paused' | 'cancelled';

/** What the rules of a subscription's life read and change; instants are ISO strings. Rows carry more. */
export interface SubscriptionState {
  status: SubscriptionStatus;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  billingAnchor: string;
  timezone: string;
  startDate: string;
  endDate: string | null;
  currentPeriodStart: string;
  currentPeriodEnd: string;
  trialStart: string | null;
  trialEnd: string | null;
  cancelAt: string | null;
  cancelledAt: string | null;
  cancelAtPeriodEnd: boolean;
}

export interface Period {
  start: string;
  end: string;
}

/** What the creation fixes of a subscription's time line. */
export interface OpeningTerms {
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  billingAnchor: string;
  timezone: string;
  startDate: string;
  endDate: string | null;
  trialDays: number;
}

/** The end of the period that starts at `periodStart` on this subscription's anchor. spec: subscriptions-and-invoicing §2.2.3 */
export function periodEndAfter(
  state: Pick<
    SubscriptionState,
    'billingAnchor' | 'billingPeriod' | 'billingPeriodCount' | 'billingCycle' | 'timezone' | 'endDate'
  >,
  periodStart: string,
): string {
  return nextBoundary({
    periodStart,
    anchor: state.billingAnchor,
    billingPeriod: state.billingPeriod,
    billingPeriodCount: state.billingPeriodCount,
    billingCycle: state.billingCycle,
    timezone: state.timezone,
    endDate: state.endDate,
  });
}

/**
 * The first state of a subscription: in its trial, or in its first period with the status that collection decides.
 * spec: subscriptions-and-invoicing §2.3.1, §2.10
 */
export function openSubscription(terms: OpeningTerms, statusWithoutTrial: SubscriptionStatus): SubscriptionState {
  const { trialDays, ...timeline } = terms;
  const base = { ...timeline, cancelAt: null, cancelledAt: null, cancelAtPeriodEnd: false };
  if (trialDays > 0) {
    const end = earlier(
      trialEnd({ startDate: terms.startDate, days: trialDays, timezone: terms.timezone }),
      terms.endDate,
    );
    return {
      ...base,
      status: 'trialing',
      trialStart: terms.startDate,
      trialEnd: end,
      currentPeriodStart: terms.startDate,
      currentPeriodEnd: end,
    };
  }
  return {
    ...base,
    status: statusWithoutTrial,
    trialStart: null,
    trialEnd: null,
    currentPeriodStart: terms.startDate,
    currentPeriodEnd: periodEndAfter(terms, terms.startDate),
  };
}

export interface ClosedPeriod {
  state: SubscriptionState;
  /** The period that ended: what the cycle invoice bills in arrear. */
  elapsed: Period;
  /** The period that begins: what the cycle invoice bills in advance; null when the subscription ended here. */
  next: Period | null;
}

/**
 * Closes the period that ends at `currentPeriodEnd`: the next one begins there, or the subscription ends because a
 * cancellation or its end date falls due at this boundary. spec: subscriptions-and-invoicing §2.5.1
 */
export function closePeriod(state: SubscriptionState): ClosedPeriod {
  const boundary = state.currentPeriodEnd;
  const elapsed = { start: state.currentPeriodStart, end: boundary };
  const cancelDue = state.cancelAt !== null && state.cancelAt <= boundary;
  const endReached = state.endDate !== null && state.endDate <= boundary;
  if (cancelDue || endReached) return { state: endedAt(state, boundary), elapsed, next: null };
  const end = earlier(periodEndAfter(state, boundary), state.cancelAt);
  return {
    state: { ...state, currentPeriodStart: boundary, currentPeriodEnd: end },
    elapsed,
    next: { start: boundary, end },
  };
}

/**
 * Ends a trial: billing anchors at its end, whatever the cycle, and the first billed period begins there.
 * A cancellation or end date due by then ends the subscription instead. spec: subscriptions-and-invoicing §2.10
 */
export function endTrial(state: SubscriptionState, statusAfter: SubscriptionStatus): ClosedPeriod {
  const boundary = state.currentPeriodEnd;
  const elapsed = { start: state.currentPeriodStart, end: boundary };
  const ended = [state.cancelAt, state.endDate].some((instant) => instant !== null && instant <= boundary);
  if (ended) return { state: endedAt(state, boundary), elapsed, next: null };
  const anchored = { ...state, billingAnchor: boundary, trialEnd: boundary };
  const end = earlier(periodEndAfter(anchored, boundary), state.cancelAt);
  return {
    state: { ...anchored, status: statusAfter, currentPeriodStart: boundary, currentPeriodEnd: end },
    elapsed,
    next: { start: boundary, end },
  };
}

/**
 * Ends the trial of a child that is invoiced with a parent: it goes on in the parent's current period and on its anchor, from the
 * end of its trial on. Periods of several months can be told from one of their boundaries alone: their trials end with one, which
 * is the anchor then. A cancellation or end date due by then ends it instead. spec: subscriptions-and-invoicing §2.10, §2.13
 */
export function endTrialInGroup(
  child: SubscriptionState,
  parent: Pick<SubscriptionState, 'status' | 'billingAnchor' | 'currentPeriodEnd'>,
): ClosedPeriod {
  const closed = endTrial(child, parent.status);
  if (closed.next === null) return closed;
  const end = earlier(parent.currentPeriodEnd, child.cancelAt);
  const billingAnchor = findsItsBoundaries(child) ? parent.billingAnchor : closed.state.billingAnchor;
  const state = { ...closed.state, billingAnchor, currentPeriodEnd: end };
  return { ...closed, state, next: { start: closed.next.start, end } };
}

/** The opening invoice is paid: an incomplete subscription becomes active; any other status stays. spec: §2.4 */
export function settleOpening(state: SubscriptionState): SubscriptionState {
  return state.status === 'incomplete' ? { ...state, status: 'active' } : state;
}

function endedAt(state: SubscriptionState, boundary: string): SubscriptionState {
  return {
    ...state,
    status: 'cancelled',
    cancelAt: state.cancelAt ?? boundary,
    cancelledAt: boundary,
    endDate: boundary,
  };
}

function earlier(instant: string, other: string | null): string {
  return other !== null && other < instant ? other : instant;
}

import { refuse } from '../refusal.ts';
import { localDate, localDaysBetween, trialEnd } from '../time/calendar.ts';
import type { CollectionMethod } from './collection.ts';
import type { SubscriptionState } from './subscription.ts';

/**
 * The invoice that records a trial's begin: nothing to pay, numbered and final at once, never skipped.
 * spec: subscriptions-and-invoicing §2.10
 */
export function trialStartInvoice(collectionMethod: CollectionMethod): {
  billingReason: 'SUBSCRIPTION_TRIAL_START';
  invoiceStatus: 'FINALIZED';
  paymentStatus: 'SUCCEEDED' | 'PENDING';
} {
  return {
    billingReason: 'SUBSCRIPTION_TRIAL_START',
    invoiceStatus: 'FINALIZED',
    paymentStatus: collectionMethod === 'charge_automatically' ? 'SUCCEEDED' : 'PENDING',
  };
}

/**
 * The instant at which a running trial ends that is to end at `newEnd`, null meaning now. Refuses a subscription that is not in
 * its trial, an end that is not to come, and one after the subscription's own end. spec: subscriptions-and-invoicing §2.10
 */
export function trialEndingAt(
  state: Pick<SubscriptionState, 'status' | 'endDate'>,
  newEnd: string | null,
  now: string,
): string {
  if (state.status !== 'trialing') {
    throw refuse('validation_error', `the subscription is ${state.status}, not in a trial whose end could be changed`, {
      subscription_status: state.status,
    });
  }
  if (newEnd === null) return now;
  const field = 'trial_end_params.new_trial_end';
  if (newEnd <= now) {
    throw refuse('validation_error', `${field} must be in the future; use action immediate to end the trial now`, {
      fields: { [field]: 'must be in the future' },
    });
  }
  if (state.endDate !== null && newEnd > state.endDate) {
    throw refuse('validation_error', `${field} must not be after the end of the subscription, ${state.endDate}`, {
      fields: { [field]: `must not be after ${state.endDate}` },
    });
  }
  return newEnd;
}

/** A trial as a creation asks for it: in days, by its ends, or both alike; instants are ISO strings. */
export interface AskedTrial {
  days: number | null;
  start: string | null;
  end: string | null;
}

/** Longest trial that may be asked for, in days. */
const longestTrial = 3650;

/**
 * The days of the trial that a creation asks for: those sent, the difference of the local dates of its two ends, or the
 * plan's. One end alone is completed by the days that were sent or the plan's. A trial begins with its subscription and ends at
 * the clock time of that start, so `trial_start` names a day, the one of the start. `planDays` may throw where the plan's prices
 * differ. Throws `validation_error` that names the member. spec: subscriptions-and-invoicing §1.2 trial_period_days
 */
export function askedTrialDays(
  asked: AskedTrial,
  subscription: { startDate: string; endDate: string | null; timezone: string },
  planDays: () => number,
): number {
  if (asked.start === null && asked.end === null) return asked.days ?? planDays();
  const { timezone, startDate } = subscription;
  const between =
    asked.start !== null && asked.end !== null ? localDaysBetween(asked.start, asked.end, timezone) : null;
  const days = between ?? asked.days ?? planDays();
  if (between === null && days === 0) {
    const missing = asked.start === null ? 'trial_start' : 'trial_end';
    throw wrong(missing, 'is required: neither the plan nor trial_period_days says how long the trial is');
  }
  if (days <= 0) {
    throw wrong('trial_end', 'must be at least a day after trial_start; send trial_period_days 0 for no trial');
  }
  if (days > longestTrial) throw wrong('trial_end', `must be at most ${longestTrial} days after trial_start`);
  if (asked.days !== null && asked.days !== days) {
    throw wrong('trial_period_days', `must be ${days}, the days from trial_start to trial_end, or be left out`);
  }
  const last = trialEnd({ startDate, days, timezone });
  const begins = `the day the subscription starts, ${localDate(startDate, timezone)} in ${timezone}`;
  if (asked.start !== null && localDaysBetween(startDate, asked.start, timezone) !== 0) {
    throw wrong('trial_start', `must be on ${begins}; a trial begins with its subscription (start_date)`);
  }
  if (asked.end !== null && localDaysBetween(last, asked.end, timezone) !== 0) {
    throw wrong(
      'trial_end',
      `must be ${days} days after ${begins}; send trial_start too for a trial of another length`,
    );
  }
  if (asked.end !== null && subscription.endDate !== null && last > subscription.endDate) {
    throw wrong('trial_end', `must not be after the end of the subscription, ${subscription.endDate}`);
  }
  return days;
}

function wrong(field: string, problem: string) {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}

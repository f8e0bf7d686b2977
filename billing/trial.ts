import type { CollectionMethod } from './collection.ts';
import { refuse } from './refusal.ts';
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

import { refuse } from '../refusal.ts';
import { type BillingPeriodInterval, earlier, later, periodContaining } from '../time/calendar.ts';
import type { SubscriptionState } from './subscription.ts';

export type AddonCadence = 'recurring' | 'onetime';

/** When an attachment is in force; no end is until it is detached or its subscription ends. */
export interface AttachmentTerm {
  start: string;
  end: string | null;
}

/** Refuses a subscription that takes no add-ons in its state. spec: subscriptions-and-invoicing §1.10, §2.11 While paused */
export function refuseUnattachable(state: Pick<SubscriptionState, 'status'>): void {
  if (state.status === 'active' || state.status === 'draft') return;
  throw invalid('subscription_id', `names a subscription that is ${state.status}; it must be active or draft`);
}

/**
 * When an attachment begins and ends: from `startDate`, or from the subscription's start where that is later; a onetime one
 * until the end of the billing period that holds its start, cut by the subscription's end. Refuses a start before the current
 * period, whose predecessors are billed, and one at or after the subscription's end. spec: subscriptions-and-invoicing §1.10
 */
export function attachmentTerm(state: SubscriptionState, startDate: string, cadence: AddonCadence): AttachmentTerm {
  if (startDate < state.currentPeriodStart) {
    throw invalid('start_date', `must not be before the start of the current period, ${state.currentPeriodStart}`);
  }
  const ends = [state.endDate, state.cancelAt].filter((instant) => instant !== null).sort()[0] ?? null;
  if (ends !== null && startDate >= ends) {
    throw invalid('start_date', `must be before the subscription ends at ${ends}`);
  }
  if (cadence === 'recurring') return { start: startDate, end: null };
  const periodEnd = startDate < state.currentPeriodEnd ? state.currentPeriodEnd : laterPeriod(state, startDate).end;
  return { start: startDate, end: ends === null ? periodEnd : earlier(periodEnd, ends) };
}

/**
 * When a detached attachment ends: at `effectiveDate`, by default the end of the current period, and not before its own
 * start. Refuses a date outside [now, current period end], and an attachment that has ended or ends before that already.
 * spec: subscriptions-and-invoicing §1.10
 */
export function detachmentEnd(
  state: Pick<SubscriptionState, 'status' | 'currentPeriodEnd'>,
  attachment: AttachmentTerm,
  effectiveDate: string | null,
  now: string,
): string {
  if (state.status === 'paused' || state.status === 'cancelled') {
    throw invalid('addon_association_id', `belongs to a subscription that is ${state.status}, whose add-ons stay`);
  }
  if (attachment.end !== null && attachment.end <= now) {
    throw invalid('addon_association_id', `names an attachment that ended at ${attachment.end}`);
  }
  const effective = effectiveDate ?? later(now, state.currentPeriodEnd);
  if (effective < now || effective > later(now, state.currentPeriodEnd)) {
    const range = `from now, ${now}, to the end of the current period, ${state.currentPeriodEnd}`;
    throw invalid('effective_date', `must lie ${range}`);
  }
  if (attachment.end !== null && effective > attachment.end) {
    throw invalid('effective_date', `must not be after ${attachment.end}, when the attachment ends already`);
  }
  return later(effective, attachment.start);
}

function laterPeriod(state: SubscriptionState, instant: string): BillingPeriodInterval {
  const { billingAnchor: anchor, currentPeriodEnd: firstPeriodStart, ...cadence } = state;
  const period = periodContaining({ ...cadence, anchor, firstPeriodStart, instant });
  if (!period) throw invalid('start_date', 'lies in no period of the subscription');
  return period;
}

function invalid(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}

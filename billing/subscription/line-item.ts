import { refuse } from '../refusal.ts';
import { type ChargeCadence, cadenceRelation } from '../time/cadence.ts';
import type { SubscriptionState } from './subscription.ts';

/** When a line item is or shall be in force; no end is until it or its subscription is ended. */
export interface LineItemTerm {
  start: string;
  end: string | null;
}

/** Refuses a subscription whose state takes no new line items. spec: subscriptions-and-invoicing §1.9, §2.11 While paused */
export function refuseUnchangeable(state: Pick<SubscriptionState, 'status'>, field = 'subscription_id'): void {
  if (['active', 'trialing', 'draft'].includes(state.status)) return;
  throw invalid(field, `names a subscription that is ${state.status}; it must be active, trialing or a draft`);
}

/**
 * When a new line item is in force: from `start`, not before its subscription's start, until `end`, not after its
 * subscription's end. A one-time charge of a period that is billed already would never be charged and is refused.
 * spec: subscriptions-and-invoicing §1.9
 */
export function lineItemTerm(state: SubscriptionState, wanted: LineItemTerm & { isOneTime: boolean }): LineItemTerm {
  const { start, end } = wanted;
  if (start < state.startDate) {
    throw invalid('start_date', `must not be before the start of the subscription, ${state.startDate}`);
  }
  if (state.endDate !== null && start >= state.endDate) {
    throw invalid('start_date', `must be before the subscription ends at ${state.endDate}`);
  }
  if (end !== null && end < start) throw invalid('end_date', `must not be before start_date, ${start}`);
  if (end !== null && state.endDate !== null && end > state.endDate) {
    throw invalid('end_date', `must not be after the end of the subscription, ${state.endDate}`);
  }
  if (wanted.isOneTime && start < state.currentPeriodStart) {
    throw invalid(
      'start_date',
      `of a one-time charge must not be before the current period, ${state.currentPeriodStart}`,
    );
  }
  return { start, end: end ?? state.endDate };
}

/**
 * Refuses a cadence that is neither the subscription's nor a part or multiple of it; days and weeks inside months are billed
 * once a period. spec: subscriptions-and-invoicing §1.9, §2.6.3
 */
export function refuseCadence(price: ChargeCadence, subscription: ChargeCadence, field: string): void {
  if (cadenceRelation(price, subscription) !== 'longer') return;
  if (['equal', 'shorter'].includes(cadenceRelation(subscription, price))) return;
  const cadence = `${price.billingPeriodCount} × ${price.billingPeriod}`;
  const own = `${subscription.billingPeriodCount} × ${subscription.billingPeriod}`;
  throw invalid(field, `names a price charged every ${cadence}, which is no part or multiple of ${own}`);
}

/**
 * When a new version of a line item takes over. Refuses an instant before the item's start or at or after its end.
 * spec: subscriptions-and-invoicing §1.9
 */
export function versionStart(term: LineItemTerm, effectiveFrom: string): string {
  if (effectiveFrom < term.start) {
    throw invalid('effective_from', `must not be before the start of the line item, ${term.start}`);
  }
  if (term.end !== null && effectiveFrom >= term.end) {
    throw invalid('effective_from', `must be before the line item ends at ${term.end}`);
  }
  return effectiveFrom;
}

/**
 * When a line item ends that is to end at `effectiveFrom`. Refuses a one-time charge, an instant before the item's start, and
 * one that is not earlier than the end it has. spec: subscriptions-and-invoicing §1.9
 */
export function lineItemEnd(term: LineItemTerm & { isOneTime: boolean }, effectiveFrom: string): string {
  if (term.isOneTime) throw invalid('id', 'names a one-time charge, which cannot be ended; credit its invoice instead');
  if (effectiveFrom < term.start) {
    throw invalid('effective_from', `must not be before the start of the line item, ${term.start}`);
  }
  if (term.end !== null && effectiveFrom >= term.end) {
    throw invalid('effective_from', `must be before ${term.end}, when the line item ends already`);
  }
  return effectiveFrom;
}

/** An item whose quantity is to change, as the rules see it. */
export interface QuantityItem extends LineItemTerm {
  id: string;
  priceType: 'FIXED' | 'USAGE';
  isOneTime: boolean;
}

/**
 * Refuses a change of quantity that the text does not allow: of a usage or one-time charge, of a subscription that is not
 * active, at an instant outside the current period or the item's own time. `field` is where it stands in the request.
 * spec: subscriptions-and-invoicing §2.9.3, errors 30
 */
export function refuseQuantity(
  state: Pick<SubscriptionState, 'status' | 'currentPeriodStart' | 'currentPeriodEnd'>,
  item: QuantityItem,
  effectiveAt: string,
  field: string,
): void {
  if (state.status !== 'active') {
    throw invalid(
      'subscription_id',
      `names a subscription that is ${state.status}; quantities change while it is active`,
    );
  }
  if (item.priceType !== 'FIXED' || item.isOneTime) {
    const kind = item.isOneTime ? 'a one-time charge' : 'a usage charge, whose quantity is metered';
    throw invalid(`${field}.id`, `names ${kind}; name a recurring FIXED line item`);
  }
  const { currentPeriodStart: start, currentPeriodEnd: end } = state;
  if (effectiveAt < start || effectiveAt >= end) {
    throw invalid(`${field}.effective_date`, `must lie in the current period, from ${start} and before ${end}`);
  }
  if (effectiveAt < item.start || (item.end !== null && effectiveAt >= item.end)) {
    const until = item.end === null ? '' : ` and before ${item.end}`;
    throw invalid(
      `${field}.effective_date`,
      `must lie in the time of line item ${item.id}, from ${item.start}${until}`,
    );
  }
}

function invalid(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}

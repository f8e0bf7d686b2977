import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { SubscriptionEvent, SubscriptionEventType } from '../../platform/event-catalogue/subscription-events.ts';

const wireStatus: Record<string, string> = { draft: 'DRAFT', trialing: 'TRIALING' };

/** The spelling of a subscription status on the wire. spec: subscriptions-and-invoicing §0 */
export function subscriptionStatusOnWire(status: string): string {
  return wireStatus[status] ?? status;
}

/** An event of a subscription with the slim object of the envelope. spec: platform §17.2 */
export function subscriptionEvent(
  name: SubscriptionEventType,
  row: SubscriptionRow,
  occurredAt: string,
): SubscriptionEvent {
  return {
    name,
    entityType: 'subscription',
    entityId: row.id,
    occurredAt,
    payload: { subscription: toldSubscription(row) },
  };
}

/** A subscription as outbound events carry it; its customer is shown by `writeEvents`. spec: platform §17.2 */
export function toldSubscription(row: SubscriptionRow): SubscriptionEvent['payload']['subscription'] {
  return {
    id: row.id,
    customer_id: row.customerId,
    plan_id: row.planId,
    lookup_key: row.lookupKey,
    subscription_status: subscriptionStatusOnWire(row.status),
    subscription_type: row.subscriptionType,
    currency: row.currency,
    start_date: row.startDate,
    end_date: row.endDate,
    current_period_start: row.currentPeriodStart,
    current_period_end: row.currentPeriodEnd,
    trial_start: row.trialStart,
    trial_end: row.trialEnd,
    cancelled_at: row.cancelledAt,
    cancel_at: row.cancelAt,
    cancel_at_period_end: row.cancelAtPeriodEnd,
    billing_cadence: 'RECURRING',
    billing_period: row.billingPeriod,
    billing_period_count: row.billingPeriodCount,
    pause_status: row.pauseStatus,
    parent_subscription_id: row.parentSubscriptionId,
    metadata: row.metadata,
    customer: null,
  };
}

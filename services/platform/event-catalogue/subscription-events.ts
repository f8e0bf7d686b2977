import { z } from 'zod';
import { customer } from './customer-events.ts';
import { decimal, type EventOf, eventFamily, instant, metadata } from './event-family.ts';

const subscription = z
  .strictObject({
    id: z.string(),
    customer_id: z.string(),
    plan_id: z.string(),
    lookup_key: z.string(),
    subscription_status: z.string(),
    subscription_type: z.enum(['standalone', 'parent', 'inherited', 'grouped_invoicing']),
    currency: z.string(),
    start_date: instant(),
    end_date: instant().nullable(),
    current_period_start: instant(),
    current_period_end: instant(),
    trial_start: instant().nullable(),
    trial_end: instant().nullable(),
    cancelled_at: instant().nullable(),
    cancel_at: instant().nullable(),
    cancel_at_period_end: z.boolean(),
    billing_cadence: z.literal('RECURRING'),
    billing_period: z.enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL']),
    billing_period_count: z.int(),
    pause_status: z.enum(['none', 'active']),
    parent_subscription_id: z.string().nullable(),
    metadata: metadata(),
    customer: customer.nullable(),
  })
  .meta({ id: 'OutboundSubscription' });

export const subscriptionEvents = eventFamily({
  entityType: 'subscription',
  payload: z.strictObject({ subscription }),
  events: {
    'subscription.created': 'A subscription was created that is not a draft.',
    'subscription.draft.created': 'A subscription was created as a draft.',
    'subscription.activated':
      'A subscription became active: a draft was activated, a trial ended, or its first invoice was paid.',
    'subscription.updated': 'A subscription was changed: its terms, items, add-ons, coupons, taxes or status.',
    'subscription.plan_changed': 'A subscription went over to another plan; `subscription.updated` comes with it.',
    'subscription.paused': 'A subscription was paused; `subscription.updated` comes with it.',
    'subscription.resumed': 'A paused subscription goes on; `subscription.updated` comes with it.',
    'subscription.cancelled': 'A subscription ended; `subscription.updated` comes with it.',
    'subscription.renewal.due': 'A period of a subscription ends in 24 hours; once a period.',
  },
});

export type SubscriptionEvent = EventOf<typeof subscriptionEvents>;
export type SubscriptionEventType = SubscriptionEvent['name'];

const phase = z
  .strictObject({
    id: z.string(),
    subscription_id: z.string(),
    start_date: instant(),
    end_date: instant().nullable(),
  })
  .meta({ id: 'OutboundPhase' });

export const phaseEvents = eventFamily({
  entityType: 'phase',
  payload: z.strictObject({ phase }),
  events: {
    'subscription.phase.created': 'A subscription got a phase.',
    'subscription.phase.updated': 'A phase of a subscription was changed.',
    'subscription.phase.deleted': 'A phase of a subscription that had not begun was taken away.',
  },
});

export type PhaseEvent = EventOf<typeof phaseEvents>;

const spendAlert = z
  .strictObject({
    subscription,
    subscription_line_item_id: z.string().nullable(),
    group_id: z.string().nullable(),
    alert_type: z.enum(['subscription_spend', 'subscription_line_item_spend', 'subscription_group_spend']),
    alert_status: z.enum(['ok', 'info', 'warning', 'in_alarm']),
    current_spend: decimal(),
    threshold: decimal().nullable(),
    triggered_at: instant(),
  })
  .meta({ id: 'OutboundSpendAlert' });

export const spendEvents = eventFamily({
  entityType: 'subscription',
  payload: z.strictObject({ alert: spendAlert, ...spendAlert.shape }),
  events: {
    'subscription.spend.threshold_reached': 'The spend of a subscription reached a threshold of its alert.',
    'subscription.spend.threshold_recovered': 'The spend of a subscription is below the thresholds of its alert again.',
    'subscription.line_item_spend.threshold_reached': 'The spend of a line item reached a threshold of its alert.',
    'subscription.line_item_spend.threshold_recovered':
      'The spend of a line item is below the thresholds of its alert again.',
    'subscription.group_spend.threshold_reached': 'The spend of a group of features reached a threshold of its alert.',
    'subscription.group_spend.threshold_recovered':
      'The spend of a group of features is below the thresholds of its alert again.',
  },
});

export type SpendEvent = EventOf<typeof spendEvents>;

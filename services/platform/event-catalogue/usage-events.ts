import { z } from 'zod';
import { decimal, type EventOf, eventFamily, instant } from './event-family.ts';

const usageEvent = z
  .strictObject({
    id: z.string(),
    event_name: z.string(),
    customer_id: z.string().nullable(),
    external_customer_id: z.string().nullable(),
    source: z.string().nullable(),
    properties: z.record(z.string(), z.unknown()).nullable(),
    timestamp: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'OutboundUsageEvent' });

export const rejectionEvents = eventFamily({
  entityType: 'event',
  payload: z.strictObject({
    reason: z.enum(['no_meter_for_event_name', 'no_matching_meter', 'not_storable']),
    problem: z.string().optional(),
    event: usageEvent,
  }),
  events: {
    'event.rejected':
      'A usage event is counted by no meter, or could not be stored; at most once an hour for an event name and reason.',
  },
});

export type RejectionEvent = EventOf<typeof rejectionEvents>;

const grantAlert = z
  .strictObject({
    subscription_id: z.string(),
    customer_id: z.string(),
    entitlement_id: z.string(),
    entitlement_grant_id: z.string(),
    alert_type: z.literal('entitlement_grant_exhausted'),
    alert_status: z.literal('in_alarm'),
    usage_ratio: decimal(),
    triggered_at: instant(),
  })
  .meta({ id: 'OutboundGrantAlert' });

export const grantEvents = eventFamily({
  entityType: 'entitlement_grant',
  payload: z.strictObject({ alert: grantAlert, ...grantAlert.shape }),
  events: {
    'entitlement.grant.exhausted': 'The allowance of an entitlement was used up for its present window; once a window.',
  },
});

export type GrantEvent = EventOf<typeof grantEvents>;

import { z } from 'zod';
import { type EventOf, eventFamily, metadata } from './event-family.ts';

const feature = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    lookup_key: z.string(),
    description: z.string().nullable(),
    type: z.string(),
    unit_singular: z.string().nullable(),
    unit_plural: z.string().nullable(),
    meter_id: z.string().nullable(),
    group_id: z.string().nullable(),
    metadata: metadata(),
  })
  .meta({ id: 'OutboundFeature' });

export const featureEvents = eventFamily({
  entityType: 'feature',
  payload: z.strictObject({ feature }),
  events: {
    'feature.created': 'A feature was created, by itself or as a copy.',
    'feature.updated': 'A feature was changed.',
    'feature.deleted': 'A feature was deleted.',
  },
});

export type FeatureEvent = EventOf<typeof featureEvents>;

const entitlement = z
  .strictObject({
    id: z.string(),
    entity_type: z.string(),
    entity_id: z.string(),
    feature_id: z.string(),
    feature_type: z.string(),
    is_enabled: z.boolean(),
    usage_limit: z.number().nullable(),
    usage_reset_period: z.string().nullable(),
    is_soft_limit: z.boolean(),
    static_value: z.string().nullable(),
  })
  .meta({ id: 'OutboundEntitlement' });

export const entitlementEvents = eventFamily({
  entityType: 'entitlement',
  payload: z.strictObject({ entitlement }),
  events: {
    'entitlement.created': 'An entitlement of a plan, an add-on or a subscription was created.',
    'entitlement.updated': 'An entitlement was changed.',
    'entitlement.deleted': 'An entitlement was deleted.',
  },
});

export type EntitlementEvent = EventOf<typeof entitlementEvents>;

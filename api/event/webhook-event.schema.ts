import { z } from 'zod';
import type { KeptDelivery } from '../../services/event/webhook/delivery.ts';
import type { EventFilters, StandingEvent } from '../../services/event/webhook/event-list.ts';
import { type EventStanding, eventStates, isLacking } from '../../services/event/webhook/event-standing.ts';
import { webhookEventTypes } from '../../services/event/webhook/event-type.ts';
import { listOf, listQuery } from '../list.ts';
import { booleanQuery, timestampOutput } from '../scalars.schema.ts';

export const webhookEventListQuery = listQuery({
  event_name: z.enum(webhookEventTypes).optional().describe('Only events of this type.'),
  entity_type: z.string().max(255).optional().describe('Only events of objects of this kind, such as `invoice`.'),
  entity_id: z.string().max(255).optional().describe('Only events of this object.'),
  delivered: booleanQuery()
    .optional()
    .describe('With true only what no endpoint lacks, with false only what an endpoint was due and has not got.'),
});

export const webhookDeliveryListQuery = listQuery({
  endpoint_id: z.string().max(255).optional().describe('Only attempts at this endpoint.'),
}).pick({
  limit: true,
  offset: true,
  endpoint_id: true,
});

const standing = z
  .object({
    endpoint_id: z.string(),
    state: z.enum(eventStates),
    waits_behind: z.int().nullable(),
    next_attempt_at: timestampOutput().nullable(),
  })
  .meta({ id: 'WebhookEventStanding' });

const eventMembers = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  sequence: z.int(),
  occurred_at: timestampOutput(),
  created_at: timestampOutput(),
  delivered: z.boolean(),
  endpoints: z.array(standing),
};
const webhookEvent = z.object(eventMembers).meta({ id: 'WebhookEvent' });
export const webhookEventList = listOf(webhookEvent, 'ListWebhookEventsResponse');
export const shownWebhookEvent = z
  .object({ ...eventMembers, payload: z.looseObject({}), body: z.string() })
  .meta({ id: 'ShownWebhookEvent' });

const webhookDelivery = z
  .object({
    endpoint_id: z.string(),
    attempt: z.int(),
    attempted_at: timestampOutput(),
    status_code: z.int().nullable(),
    duration_ms: z.int(),
    error: z.string().nullable(),
    response_excerpt: z.string(),
    next_attempt_at: timestampOutput().nullable(),
    replay: z.boolean(),
  })
  .meta({ id: 'WebhookDelivery' });
export const webhookDeliveryList = listOf(webhookDelivery, 'ListWebhookDeliveriesResponse');

/** Conditions of a list of events from its query. */
export function eventFilters(query: z.output<typeof webhookEventListQuery>): EventFilters {
  return {
    eventName: query.event_name ?? null,
    entityType: query.entity_type ?? null,
    entityId: query.entity_id ?? null,
    isDelivered: query.delivered ?? null,
  };
}

export function viewWebhookEvent(event: StandingEvent): z.output<typeof webhookEvent> {
  return {
    id: event.id,
    tenant_id: event.tenantId,
    environment_id: event.environmentId,
    event_name: event.eventName,
    entity_type: event.entityType,
    entity_id: event.entityId,
    sequence: event.sequence,
    occurred_at: event.occurredAt,
    created_at: event.createdAt,
    delivered: !event.standings.some(isLacking),
    endpoints: event.standings.map(viewStanding),
  };
}

function viewStanding({ endpointId, state, waitsBehind, nextAttemptAt }: EventStanding): z.output<typeof standing> {
  return { endpoint_id: endpointId, state, waits_behind: waitsBehind, next_attempt_at: nextAttemptAt };
}

export function viewDelivery(row: KeptDelivery): z.output<typeof webhookDelivery> {
  return {
    endpoint_id: row.endpointId,
    attempt: row.attempt,
    attempted_at: row.attemptedAt,
    status_code: row.statusCode,
    duration_ms: row.durationMs,
    error: row.error,
    response_excerpt: row.responseExcerpt,
    next_attempt_at: row.nextAttemptAt,
    replay: row.isReplay,
  };
}

import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * An attempt to deliver an event to an endpoint, kept for 30 days. Its id grows with time, so that the oldest are found without a search.
 * spec: platform §17.4; design: people-and-events §B 26, 27
 */
const schema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    endpointId: p.text(),
    eventId: p.text(),
    /** Number of the attempt, from 1. */
    attempt: p.integer(),
    attemptedAt: instant(),
    durationMs: p.integer(),
    /** Null where nobody answered. */
    statusCode: p.integer().nullable(),
    /** Words of a closed list; null where the event was received. */
    error: p.text().nullable(),
    /** Beginning of an answer that was no receipt, as text without secrets. */
    responseExcerpt: p.text().default(''),
    /** Null where no attempt follows by itself. */
    nextAttemptAt: instant().nullable(),
    /** True where the event was sent because somebody asked for it again. */
    isReplay: p.boolean().default(false),
  },
  indexes: [{ properties: ['environmentId', 'eventId'] }],
});
export class WebhookDelivery extends schema.class {}
schema.setClass(WebhookDelivery);

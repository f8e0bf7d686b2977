import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * Line of an object that waits at an endpoint: an event of it was not received, and no later one is sent before it. An object whose
 * events are received has no row. design: people-and-events §B 16
 */
const schema = defineEntity({
  name: 'WebhookLine',
  tableName: 'webhook_line',
  properties: {
    endpointId: p.text().primary(),
    entityId: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    /** The event that is tried; those before it were received or skipped. */
    nextSequence: p.integer(),
    /** Attempts it has had. */
    attempts: p.integer(),
    /** Instant of the next attempt; null while the object is held after the last. */
    nextAt: instant().nullable(),
    /** Failure of the last attempt, in words of a closed list. */
    failure: p.text(),
    failedSince: instant(),
  },
});
export class WebhookLine extends schema.class {}
schema.setClass(WebhookLine);

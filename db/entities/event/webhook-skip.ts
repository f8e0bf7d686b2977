import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** An event that an endpoint was due and will not get by itself. design: people-and-events §A 3 */
const schema = defineEntity({
  name: 'WebhookSkip',
  tableName: 'webhook_skip',
  properties: {
    endpointId: p.text().primary(),
    entityId: p.text().primary(),
    sequence: p.integer().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    eventId: p.text(),
    /** `failed` after the last attempt; `stale` where none had reached it within 48 hours; `dropped` where the endpoint resumed behind it. */
    reason: p.text(),
    /** Number of events of the object that were skipped in a row, with this one. */
    consecutive: p.integer(),
    skippedAt: instant(),
    /** Instant at which it was sent again and received; null while the endpoint lacks it. */
    receivedAt: instant().nullable(),
  },
});
export class WebhookSkip extends schema.class {}
schema.setClass(WebhookSkip);

import { defineEntity, p } from '@mikro-orm/core';

/**
 * Types an endpoint gets of events behind a place in the feed, until a filter with a later place. The first one stands at the
 * endpoint's start. design: people-and-events §A 4, B 15
 */
const schema = defineEntity({
  name: 'WebhookFilter',
  tableName: 'webhook_filter',
  properties: {
    endpointId: p.text().primary(),
    fromPosition: p.bigint('string').primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    eventTypes: p.array(),
  },
});
export class WebhookFilter extends schema.class {}
schema.setClass(WebhookFilter);

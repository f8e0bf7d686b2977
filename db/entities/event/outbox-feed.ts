import { defineEntity, p } from '@mikro-orm/core';

/** The place of an outbound event in its environment's feed: counted from 1 without a gap, and never changed. */
const schema = defineEntity({
  name: 'OutboxFeed',
  tableName: 'outbox_feed',
  properties: {
    environmentId: p.text().primary(),
    feedPosition: p.bigint('string').primary(),
    tenantId: p.text(),
    eventId: p.text(),
  },
  uniques: [{ properties: ['environmentId', 'eventId'] }],
});
export class OutboxFeed extends schema.class {}
schema.setClass(OutboxFeed);

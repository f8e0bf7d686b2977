import { defineEntity, p } from '@mikro-orm/core';

/** The last event sequence given to each object. */
const schema = defineEntity({
  name: 'OutboxSequence',
  tableName: 'outbox_sequence',
  properties: { environmentId: p.text().primary(), entityId: p.text().primary(), last: p.integer() },
});
export class OutboxSequence extends schema.class {}
schema.setClass(OutboxSequence);

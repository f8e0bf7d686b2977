import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * An outbound event, written by the transaction it reports. Its place in the feed is in `OutboxFeed`, given when the transaction is
 * seen to have committed; `sequence` is gapless per object. design: architecture §5
 */
const schema = defineEntity({
  name: 'OutboxEvent',
  tableName: 'outbox_event',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    position: p.bigint('string').unique().autoincrement(),
    transactionId: p.type('xid8').$type<string>().defaultRaw('pg_current_xact_id()'),
    sequence: p.integer(),
    eventName: p.text(),
    entityType: p.text(),
    entityId: p.text(),
    payload: p.json<Record<string, unknown>>(),
    occurredAt: instant(),
    createdAt: instant(),
  },
  uniques: [{ properties: ['environmentId', 'entityId', 'sequence'] }],
  indexes: [
    { properties: ['environmentId', 'transactionId', 'position'] },
    { properties: ['environmentId', 'createdAt', 'id'] },
  ],
});
export class OutboxEvent extends schema.class {}
schema.setClass(OutboxEvent);

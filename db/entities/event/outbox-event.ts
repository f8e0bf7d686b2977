import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * An outbound event, written by the transaction it reports. Its place in the feed is in `OutboxFeed`, given when the transaction is
 * seen to have committed; `sequence` is gapless per object. One that is older than events are kept is gone. design: architecture §5
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
    /** Null where the number alone is kept, because it is the last one that an endpoint had of the object. */
    payload: p.json<Record<string, unknown>>().nullable(),
    occurredAt: instant(),
    createdAt: instant(),
  },
  uniques: [{ properties: ['environmentId', 'entityId', 'sequence'] }],
  indexes: [
    { properties: ['environmentId', 'transactionId', 'position'] },
    {
      name: 'outbox_event_kept',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.createdAt}, ${c.id}) where ${c.payload} is not null`,
    },
    {
      name: 'outbox_event_number',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.entityId}, ${c.sequence}) where ${c.payload} is null`,
    },
  ],
});
export class OutboxEvent extends schema.class {}
schema.setClass(OutboxEvent);

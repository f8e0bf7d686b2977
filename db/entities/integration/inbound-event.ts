import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';
import type { NotificationMarker } from './notification-marker.ts';

/** A notification of a provider, as it came; `doneAt` is null while it is to be passed on. spec: platform §16 */
const schema = defineEntity({
  name: 'InboundEvent',
  tableName: 'inbound_event',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    connectionId: p.text(),
    provider: p.text(),
    /** The provider's own id of the event; of one that could not be read, the digest of its bytes. */
    providerEventId: p.text(),
    eventType: p.text(),
    marker: p.json<NotificationMarker>().nullable(),
    /** The provider's ids of what it is about. */
    providerIds: p.array(),
    /** Without credentials. */
    headers: p.json<Record<string, string>>(),
    /** The bytes as they were signed. */
    body: p.blob(),
    receivedAt: instant(),
    /** When it is looked at next. */
    dueAt: instant().nullable(),
    /** Number of looks that found nothing to pass it on to. */
    attempt: p.integer().default(0),
    outcome: p.text().nullable(),
    objectType: p.text().nullable(),
    objectId: p.text().nullable(),
    doneAt: instant().nullable(),
  },
  uniques: [
    { name: 'inbound_event_provider_event_unique', properties: ['environmentId', 'connectionId', 'providerEventId'] },
  ],
  indexes: [
    { properties: ['receivedAt'] },
    {
      name: 'inbound_event_open_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.connectionId}, ${c.dueAt}) where ${c.doneAt} is null`,
    },
  ],
});
export class InboundEvent extends schema.class {}
schema.setClass(InboundEvent);

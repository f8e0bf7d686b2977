import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** Place of an endpoint in the feed of its environment. design: people-and-events §B 16 */
const schema = defineEntity({
  name: 'WebhookCursor',
  tableName: 'webhook_cursor',
  properties: {
    endpointId: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    /** Every event up to this place was received, does not concern the endpoint, or belongs to an object that waits. */
    position: p.bigint('string'),
    /** Last place of the feed when the endpoint was made: what is before was asked for by its start, however old it is. */
    createdPosition: p.bigint('string'),
    /** Sender at present, the end of its lease, and its number, from 1: one that lost the endpoint writes nothing any more. */
    owner: p.text().nullable(),
    epoch: p.integer().default(0),
    leasedUntil: instant().nullable(),
    /** `asked` while the receiver wants to get nothing, `unreachable` while it cannot be reached; null while events are sent. */
    pauseReason: p.text().nullable(),
    /** End of the pause, or the instant at which one event is tried. */
    pausedUntil: instant().nullable(),
    /** Last receipt, and the last attempt that failed with its failure in words of a closed list. */
    receivedAt: instant().nullable(),
    failedAt: instant().nullable(),
    failure: p.text().nullable(),
    /** Last receipt since the endpoint was made, moved or enabled, else the first attempt that failed. */
    silentSince: instant().nullable(),
    /** First of the attempts that failed since then, and their number. */
    failingSince: instant().nullable(),
    failures: p.integer().default(0),
    /** Place up to which no event is sent, because the endpoint was to resume behind it; 0 for none. */
    droppedPosition: p.bigint('string'),
  },
  indexes: [{ properties: ['environmentId'] }],
});
export class WebhookCursor extends schema.class {}
schema.setClass(WebhookCursor);

import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** Last place given in an environment's feed, and the transactions that had been seen by then. */
const schema = defineEntity({
  name: 'OutboxRelay',
  tableName: 'outbox_relay',
  properties: {
    environmentId: p.text().primary(),
    tenantId: p.text(),
    lastPosition: p.bigint('string'),
    /** The snapshot in which the last events were found, as PostgreSQL writes one; `3:3:` has seen none. */
    seenSnapshot: p.text(),
    /** The cluster whose transactions the snapshot names: of another one, after a restore, it says nothing. */
    systemId: p.text(),
    /** True once a restore has parted the events' transactions from those of the cluster. */
    wasRestored: p.boolean().default(false),
    /** Place up to which the feed shows nothing any more; 0 while all of it is kept. design: people-and-events §B 17 */
    forgottenPosition: p.bigint('string').defaultRaw('0'),
    /** Every event that was forgotten was created before this instant; null while none was. */
    forgottenBefore: instant().nullable(),
  },
});
export class OutboxRelay extends schema.class {}
schema.setClass(OutboxRelay);

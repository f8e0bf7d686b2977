import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * Bytes of an event that is stored without what it shows, as whoever asked first was shown them: every attempt, receiver and reader gets
 * the same. design: people-and-events §A 7
 */
const schema = defineEntity({
  name: 'OutboxBody',
  tableName: 'outbox_body',
  properties: {
    eventId: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    /** JSON, compressed with gzip. */
    body: p.blob(),
    /** Last event of the object when they were made: later than the event itself where the state is newer. */
    stateSequence: p.integer(),
    createdAt: instant(),
  },
});
export class OutboxBody extends schema.class {}
schema.setClass(OutboxBody);

import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * Events that are sent to an endpoint again, beside what it is sent by itself: those of a time, or a single one. One of each at a time.
 * spec: platform §17.4; design: people-and-events §B 13, 22
 */
const schema = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replay',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    endpointId: p.text(),
    /** The single event that is sent again; empty where it is those of a time. */
    eventId: p.text().default(''),
    /** `running`, `completed` or `cancelled`. */
    state: p.text(),
    /** Events of which time are sent, by when they were written; null for a single one. */
    startTime: instant().nullable(),
    endTime: instant().nullable(),
    /** Types that are sent; empty for all but `event.rejected`. */
    eventTypes: p.array(),
    /** True where only those are sent that the endpoint was due and that were given up. */
    onlyFailed: p.boolean().default(false),
    /** True where the id of a delivery is that of the event with `-r` and the number of the replay. */
    newIds: p.boolean().default(false),
    /** Number among the replays of the endpoint, from 1; 0 for a single event. */
    number: p.integer(),
    /** Events there were to send when it was asked for. */
    eventCount: p.integer(),
    /** Place in the feed up to which all of them are sent, and the last place. */
    position: p.bigint('string'),
    upToPosition: p.bigint('string'),
    /** Events sent so far: those that were received, and those that were not. */
    received: p.integer().default(0),
    failed: p.integer().default(0),
    /** Epoch of the sender that works at it: one before it writes nothing any more. */
    epoch: p.integer().default(0),
    createdAt: instant(),
    createdBy: p.text(),
    endedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'webhook_replay_running_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.endpointId}, ${c.eventId}) where ${c.state} = 'running'`,
    },
  ],
  indexes: [{ properties: ['endpointId', 'id'] }],
});
export class WebhookReplay extends schema.class {}
schema.setClass(WebhookReplay);

import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * A test event that somebody had sent to an endpoint, outside of the feed and of what the endpoint's objects wait for. The last one of an
 * endpoint that was sent stays; those before it are gone. design: people-and-events §B 23
 */
const schema = defineEntity({
  name: 'WebhookTest',
  tableName: 'webhook_test',
  properties: {
    /** Id that its receiver gets: `test_…`. */
    id: p.text().primary(),
    endpointId: p.text(),
    tenantId: p.text(),
    environmentId: p.text(),
    eventType: p.text(),
    /** JSON, as it is sent. */
    body: p.text(),
    createdAt: instant(),
    createdBy: p.text().default(''),
    /** Instant until which a worker has it; null before one took it. */
    takenUntil: instant().nullable(),
    /** Instant of the answer, or of the end of the attempt without one; null before it. */
    sentAt: instant().nullable(),
    /** Failure in words of a closed list; null where it was received. */
    failure: p.text().nullable(),
  },
  indexes: [
    { properties: ['endpointId'] },
    {
      name: 'webhook_test_waiting',
      expression: (c, t, n) => `create index "${n}" on ${t} (${c.endpointId}) where ${c.sentAt} is null`,
    },
  ],
});
export class WebhookTest extends schema.class {}
schema.setClass(WebhookTest);

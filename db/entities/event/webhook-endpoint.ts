import { defineEntity, p } from '@mikro-orm/core';
import { recordColumns } from '../../rows/columns.ts';

/**
 * A receiver of outbound events. Its signing secret and the values of its headers are sealed in the three last columns, which are
 * null once it is archived. spec: platform §17.4
 */
const schema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    ...recordColumns,
    url: p.text(),
    description: p.text().default(''),
    /** Types it gets; empty for all but `event.rejected`. What held for an event is in `WebhookFilter`. */
    eventTypes: p.array(),
    enabled: p.boolean().default(true),
    /** Rule for an object's later events when one was tried for the last time: `skip` or `hold`. */
    onExhausted: p.text().default('skip'),
    /** Names of the headers whose values are sealed. */
    headerNames: p.array(),
    secretKeyId: p.text().nullable(),
    secretNonce: p.blob().nullable(),
    secretCiphertext: p.blob().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class WebhookEndpoint extends schema.class {}
schema.setClass(WebhookEndpoint);

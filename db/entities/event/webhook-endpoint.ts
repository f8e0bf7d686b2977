import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

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
    /** `requested` by a person, `gone` after an answer of 410, `failing` after five days without a receipt; null while it is enabled. */
    disabledReason: p.text().nullable(),
    disabledAt: instant().nullable(),
    /** Last answer and number of failed attempts in a row; null where a person disabled it. */
    disabledAnswer: p.text().nullable(),
    disabledFailures: p.integer().nullable(),
    /** Requests that begin within a second at most; null for no limit. */
    rateLimit: p.integer().nullable(),
    /** Rule for an object's later events when one was tried for the last time: `skip` or `hold`. */
    onExhausted: p.text().default('skip'),
    /** Names of the headers whose values are sealed. */
    headerNames: p.array(),
    metadata: metadata(),
    secretKeyId: p.text().nullable(),
    secretNonce: p.blob().nullable(),
    secretCiphertext: p.blob().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class WebhookEndpoint extends schema.class {}
schema.setClass(WebhookEndpoint);

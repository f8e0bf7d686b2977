import type { Reference } from './reference.ts';

/** Ids that the places of events and their receivers hold. */
export const webhookReferences: readonly Reference[] = [
  ...['outbox_feed', 'outbox_body', 'webhook_skip'].map((table) => ({
    table,
    column: 'event_id',
    target: 'outbox_event',
  })),
  ...['webhook_cursor', 'webhook_filter', 'webhook_line', 'webhook_skip', 'webhook_test'].map((table) => ({
    table,
    column: 'endpoint_id',
    target: 'webhook_endpoint',
  })),
];

import type { Reference } from './reference.ts';

/** Ids that the places of events and their receivers hold. */
export const webhookReferences: readonly Reference[] = [
  ...['outbox_feed', 'outbox_body', 'webhook_skip', 'webhook_delivery'].map((table) => ({
    table,
    column: 'event_id',
    target: 'outbox_event',
  })),
  ...[
    'webhook_cursor',
    'webhook_filter',
    'webhook_line',
    'webhook_skip',
    'webhook_test',
    'webhook_delivery',
    'webhook_replay',
  ].map((table) => ({ table, column: 'endpoint_id', target: 'webhook_endpoint' })),
  // An event that was sent again is forgotten like any other.
  {
    table: 'webhook_replay',
    column: 'event_id',
    target: 'outbox_event',
    where: `t.event_id <> '' and t.state = 'running'`,
  },
];

import type { OutboundEvent } from '../../platform/outbox.ts';

/**
 * Events of an invoice. The payload names the invoice only: the feed and the deliveries show its current state, as the
 * contract wants (platform §17.1 rule 2), so the outbox does not store a copy of every line.
 */
export function invoiceEvents(
  names: string | readonly string[],
  invoiceId: string,
  occurredAt: string,
): OutboundEvent[] {
  return (typeof names === 'string' ? [names] : names).map((name) => ({
    name,
    entityType: 'invoice',
    entityId: invoiceId,
    occurredAt,
    payload: { invoice: { id: invoiceId } },
  }));
}

import type { InvoiceEvent } from '../platform/event-catalogue/invoice-events.ts';

/**
 * Events of an invoice. The payload names the invoice only: the feed and the deliveries show it whole, as it is when the event is
 * first shown, so the outbox does not store a copy of every line. design: people-and-events §A 7
 */
export function invoiceEvents<Name extends InvoiceEvent['name']>(
  names: Name | readonly Name[],
  invoiceId: string,
  occurredAt: string,
) {
  return (typeof names === 'string' ? [names] : names).map((name) => ({
    name,
    entityType: 'invoice' as const,
    entityId: invoiceId,
    occurredAt,
    payload: { invoice: { id: invoiceId } },
  }));
}

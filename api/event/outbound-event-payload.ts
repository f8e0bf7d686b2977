import type { Transaction } from '../../db/transaction.ts';
import type { FeedEvent, FeedPage } from '../../services/event/outbound-event.ts';
import { findInvoices } from '../../services/invoice/read/invoice-read.ts';
import { viewInvoice } from '../invoice/invoice.schema.ts';

/** The events whose payload is the whole invoice. spec: platform §17.2 */
const wholeInvoiceEvents = new Set([
  'invoice.update',
  'invoice.update.finalized',
  'invoice.update.payment',
  'invoice.update.voided',
  'invoice.payment.overdue',
]);

const carriesInvoice = (event: FeedEvent) => wholeInvoiceEvents.has(event.eventName);

/** True when a page has events that are stored without what they show. */
export function needsCurrentState(page: FeedPage): boolean {
  return page.events.some(carriesInvoice);
}

/**
 * Gives invoice events the invoice as it is now: what is stored names it only, and a late reader shall see the newest state.
 * spec: platform §17.1 rule 2
 */
export async function withCurrentState(tx: Transaction, page: FeedPage): Promise<FeedPage> {
  const ids = [...new Set(page.events.filter(carriesInvoice).map((event) => event.entityId))];
  const invoices = await findInvoices(tx, ids, { lines: true, customer: true });
  const views = new Map(invoices.map((content) => [content.row.id, viewInvoice(content)]));
  return {
    ...page,
    events: page.events.map((event) => {
      const invoice = carriesInvoice(event) ? views.get(event.entityId) : undefined;
      return invoice ? { ...event, payload: { ...event.payload, invoice } } : event;
    }),
  };
}

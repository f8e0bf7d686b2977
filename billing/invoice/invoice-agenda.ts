import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';

/** What an issued invoice that is not settled knows about its collection. */
export interface InvoiceCollection {
  status: string;
  paymentStatus: string;
  remains: boolean;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  collectionAttempts: number;
  finalizedAt: string | null;
  dueDate: string | null;
  overdueNotedAt: string | null;
  /** A payment that was opened and not yet sent to its gateway. */
  openPaymentId: string | null;
  /** The schedule of the environment; absent or null: the usual one. */
  retryAfterDays?: readonly number[] | null;
  /** A payment that its own workflow waits for. */
  awaitsGateway: boolean;
  /** A payment that its payer is asked for, and whose page is not opened yet. */
  unopenedLinkId?: string | null;
}

/**
 * Days after finalization on which a declined charge is tried again unless the setting `dunning_config` says otherwise; after
 * the last the invoice waits for its payer or a person. The spec leaves the schedule open: these are the field's usual ones.
 */
export const retryAfterDays: readonly number[] = [1, 3, 5, 7];

const dayMs = 24 * 60 * 60 * 1000;

/** Agenda of an unsettled invoice: charges, the page its payer is asked on, retries, the overdue notice. spec: subscriptions-and-invoicing §2.5 */
export function invoiceAgenda(invoice: InvoiceCollection): AgendaItem[] {
  if (invoice.status !== 'FINALIZED' || !invoice.remains || invoice.finalizedAt === null) return [];
  const items: AgendaItem[] = [];
  if (invoice.openPaymentId !== null)
    items.push({ at: invoice.finalizedAt, kind: 'chargePayment', ref: invoice.openPaymentId });
  if (invoice.unopenedLinkId) items.push({ at: invoice.finalizedAt, kind: 'openPage', ref: invoice.unopenedLinkId });
  const retryAt = nextRetryAt(invoice);
  if (retryAt !== null) items.push({ at: retryAt, kind: 'retryPayment', ref: String(invoice.collectionAttempts + 1) });
  if (invoice.dueDate !== null && invoice.overdueNotedAt === null)
    items.push({ at: invoice.dueDate, kind: 'noteOverdue', ref: '' });
  return sortAgenda(items, lifecycleKinds.invoice.agenda);
}

function nextRetryAt(invoice: InvoiceCollection): string | null {
  if (invoice.collectionMethod !== 'charge_automatically' || invoice.finalizedAt === null) return null;
  if (invoice.openPaymentId !== null || invoice.awaitsGateway) return null;
  const days = (invoice.retryAfterDays ?? retryAfterDays)[invoice.collectionAttempts];
  return days === undefined ? null : new Date(Date.parse(invoice.finalizedAt) + days * dayMs).toISOString();
}

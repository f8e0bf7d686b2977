import { z } from 'zod';
import { decimal, type EventOf, eventFamily, instant, metadata } from './event-family.ts';

const namedInvoice = z.strictObject({ id: z.string() }).meta({ id: 'OutboundInvoiceId' });

/** An invoice as it is stored with an event; readers and receivers are shown it whole. */
const storedInvoice = z.union([
  namedInvoice,
  z.strictObject({
    id: z.string(),
    customer_id: z.string(),
    subscription_id: z.string().nullable(),
    invoice_number: z.string().nullable(),
    invoice_status: z.string(),
    payment_status: z.string(),
    currency: z.string(),
    amount_due: decimal(),
    amount_paid: decimal(),
    amount_remaining: decimal(),
    overpaid_amount: decimal(),
    paid_at: instant().nullable(),
  }),
]);

export const invoiceEvents = eventFamily({
  entityType: 'invoice',
  payload: z.strictObject({ invoice: storedInvoice }),
  isShownWhole: true,
  events: {
    'invoice.update': 'An invoice was drafted, computed, or changed.',
    'invoice.update.finalized': 'An invoice was finalized.',
    'invoice.update.payment': 'Money was received for an invoice or given back, or its payment status changed.',
    'invoice.update.voided': 'An invoice was voided.',
    'invoice.communication.triggered': 'Somebody asked for an invoice to be sent to its customer.',
    'invoice.payment.overdue': 'The due date of an invoice passed and it is not paid; once an invoice.',
  },
});

export type InvoiceEvent = EventOf<typeof invoiceEvents>;

const creditNote = z
  .strictObject({
    id: z.string(),
    credit_note_number: z.string(),
    invoice_id: z.string(),
    customer_id: z.string(),
    subscription_id: z.string().nullable(),
    credit_note_status: z.string(),
    credit_note_type: z.string(),
    reason: z.string(),
    memo: z.string(),
    currency: z.string(),
    total_amount: decimal(),
    voided_at: instant().nullable(),
    finalized_at: instant().nullable(),
    metadata: metadata(),
  })
  .meta({ id: 'OutboundCreditNote' });

export const creditNoteEvents = eventFamily({
  entityType: 'credit_note',
  payload: z.strictObject({ credit_note: creditNote }),
  events: {
    'credit_note.created': 'A credit note was created.',
    'credit_note.updated': 'A credit note was finalized or voided.',
  },
});

export type CreditNoteEvent = EventOf<typeof creditNoteEvents>;

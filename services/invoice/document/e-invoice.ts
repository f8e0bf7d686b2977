import { refuse } from '../../../billing/refusal.ts';
import type { CreditNote } from '../../../db/entities/invoice/credit-note.ts';
import type { CreditNoteLineItem } from '../../../db/entities/invoice/credit-note-line-item.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { findCreditNote } from '../credit-note/credit-note-list.ts';
import { findInvoice } from '../read/invoice-read.ts';
import { onPaper, type PaperSource, type PrintedInvoice, readPrintedInvoice } from './invoice-page.ts';

export type EInvoiceSource = PrintedInvoice;

/** A credit note, and the invoice it takes from with the parties that the note was issued with. */
export interface ECreditNoteSource extends PaperSource {
  note: CreditNote;
  lines: CreditNoteLineItem[];
}

/** Reads an issued invoice for its e-invoice. Throws `not_found`, and `validation_error` for one that was not issued or is void. */
export async function readEInvoice(tx: Transaction, id: string): Promise<EInvoiceSource> {
  const page = await readPrintedInvoice(tx, id);
  const { invoiceStatus } = page.invoice.row;
  if (invoiceStatus !== 'FINALIZED') {
    const remedy = invoiceStatus === 'VOIDED' ? 'ask for the one that replaces it' : 'finalize it first';
    throw refuse('validation_error', `invoice ${id} is ${invoiceStatus} and has no e-invoice; ${remedy}`, {
      invoice_status: invoiceStatus,
    });
  }
  return page;
}

/**
 * Reads an issued credit note for a document of it, its e-invoice or its PDF. Throws `not_found`, and `validation_error` for a draft and a
 * void one.
 */
export async function readECreditNote(
  tx: Transaction,
  id: string,
  document: 'e-invoice' | 'PDF' = 'e-invoice',
): Promise<ECreditNoteSource> {
  const { row, lines } = await findCreditNote(tx, id, { customer: false, invoice: false });
  if (row.creditNoteStatus !== 'FINALIZED') {
    const remedy = row.creditNoteStatus === 'VOIDED' ? 'it takes nothing off any more' : 'finalize it first';
    throw refuse('validation_error', `credit note ${id} is ${row.creditNoteStatus} and has no ${document}; ${remedy}`, {
      credit_note_status: row.creditNoteStatus,
    });
  }
  const invoice = await findInvoice(tx, row.invoiceId, { lines: false, customer: true });
  return { note: row, lines, ...(await onPaper(tx, row.id, invoice)) };
}

import { refuse } from '../../../billing/refusal.ts';
import type { CreditNote } from '../../entities/credit-note.ts';
import type { CreditNoteLineItem } from '../../entities/credit-note-line-item.ts';
import { Tenant } from '../../entities/tenant.ts';
import type { Transaction } from '../../transaction.ts';
import { readSetting } from '../platform/setting.ts';
import type { SettingValue } from '../platform/setting-defaults.ts';
import { findCreditNote } from './credit-note-list.ts';
import { type InvoicePageSource, readInvoicePage } from './invoice-page.ts';
import { findInvoice, type InvoiceContent } from './invoice-read.ts';

/** What every e-invoice is made of. */
interface Sender {
  seller: Tenant | null;
  terms: SettingValue<'e_invoice_config'>;
}

export interface EInvoiceSource extends InvoicePageSource, Sender {}

export interface ECreditNoteSource extends Sender {
  note: CreditNote;
  lines: CreditNoteLineItem[];
  /** The invoice it takes from, with its customer. */
  invoice: InvoiceContent;
  /** How its page looks: like that of the invoice. */
  config: InvoicePageSource['config'];
}

/** Reads an issued invoice for its e-invoice. Throws `not_found`, and `validation_error` for one that was not issued or is void. */
export async function readEInvoice(tx: Transaction, id: string): Promise<EInvoiceSource> {
  const page = await readInvoicePage(tx, id);
  const { invoiceStatus } = page.invoice.row;
  if (invoiceStatus !== 'FINALIZED') {
    const remedy = invoiceStatus === 'VOIDED' ? 'ask for the one that replaces it' : 'finalize it first';
    throw refuse('validation_error', `invoice ${id} is ${invoiceStatus} and has no e-invoice; ${remedy}`, {
      invoice_status: invoiceStatus,
    });
  }
  return { ...page, terms: await readSetting(tx, 'e_invoice_config') };
}

/** Reads an issued credit note for its e-invoice. Throws `not_found`, and `validation_error` for a draft and a void one. */
export async function readECreditNote(tx: Transaction, id: string): Promise<ECreditNoteSource> {
  const { row, lines } = await findCreditNote(tx, id, { customer: false, invoice: false });
  if (row.creditNoteStatus !== 'FINALIZED') {
    const remedy = row.creditNoteStatus === 'VOIDED' ? 'it takes nothing off any more' : 'finalize it first';
    throw refuse('validation_error', `credit note ${id} is ${row.creditNoteStatus} and has no e-invoice; ${remedy}`, {
      credit_note_status: row.creditNoteStatus,
    });
  }
  const invoice = await findInvoice(tx, row.invoiceId, { lines: false, customer: true });
  const seller = await tx.em.findOne(Tenant, { id: tx.scope.tenantId });
  const terms = await readSetting(tx, 'e_invoice_config');
  return { note: row, lines, invoice, seller, terms, config: await readSetting(tx, 'invoice_pdf_config') };
}

import { Tenant } from '../../entities/tenant.ts';
import type { Transaction } from '../../transaction.ts';
import { readSetting } from '../platform/setting.ts';
import type { SettingValue } from '../platform/setting-defaults.ts';
import { type PaperCustomer, type PaperSeller, readPaper } from './document-paper.ts';
import { findInvoice, type InvoiceContent } from './invoice-read.ts';

/** An invoice as its documents show it. */
export interface PaperInvoice extends Omit<InvoiceContent, 'customer'> {
  customer: PaperCustomer | null;
}

/** Contents of documents beside the rows of their own. */
export interface PaperSource {
  invoice: PaperInvoice;
  seller: Pick<PaperSeller, 'name' | 'billingDetails'> | null;
  config: SettingValue<'invoice_pdf_config'>;
  terms: SettingValue<'e_invoice_config'>;
}

/** Contents of the page of an invoice. */
export type InvoicePageSource = PaperSource;

/**
 * Reads an invoice with its lines and customer, who sends it, and how its page looks: of an issued one all of it as it was when it was
 * issued, but for what was paid and credited since; of others as it is now. Throws `not_found`. spec: §1.11, platform §8
 */
export async function readInvoicePage(tx: Transaction, id: string): Promise<InvoicePageSource> {
  return onPaper(tx, id, await findInvoice(tx, id, { lines: true, customer: true }));
}

/** An invoice with what the document `documentId`, itself or a credit note of it, was issued with. */
export async function onPaper(tx: Transaction, documentId: string, invoice: InvoiceContent): Promise<PaperSource> {
  const paper = await readPaper(tx, tx.scope, documentId);
  if (paper) {
    const { seller, customer, texts } = paper;
    const { description, dueDate, metadata } = texts;
    const row = { ...invoice.row, description, dueDate, metadata };
    return { invoice: { ...invoice, row, customer }, seller, config: seller.look, terms: seller.terms };
  }
  const seller = await tx.em.findOne(Tenant, { id: tx.scope.tenantId });
  const config = await readSetting(tx, 'invoice_pdf_config');
  return { invoice, seller, config, terms: await readSetting(tx, 'e_invoice_config') };
}

import type { Derivation } from '../../../billing/price/derivation.ts';
import { Tenant } from '../../../db/entities/platform/tenant.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { readSetting } from '../../platform/setting.ts';
import type { SettingValue } from '../../platform/setting-defaults.ts';
import { findInvoice, type InvoiceContent } from '../read/invoice-read.ts';
import { type PaperCustomer, type PaperSeller, paperLayout, readPaper } from './document-paper.ts';

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
  /** Layout of its pages. */
  layout: number;
}

/** A payment that an invoice got, as its page tells it. */
export interface PrintedPayment {
  amount: string;
  paidAt: string;
  /** `CARD`, `OFFLINE`, … */
  type: string;
  /** Last digits of its card; empty where there is none. */
  lastFour: string;
}

/** Contents of the printed page of an invoice. */
export interface PrintedInvoice extends PaperSource {
  derivations: ReadonlyMap<string, Derivation>;
  payments: PrintedPayment[];
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

/** The same for its printed page, with how its lines came about and what was paid. Throws `not_found`. spec: §1.11 */
export async function readPrintedInvoice(tx: Transaction, id: string): Promise<PrintedInvoice> {
  const page = await readInvoicePage(tx, id);
  const lines = await tx.rows<{ id: string; derivation: Derivation }>(
    `select id, derivation from invoice_line_item
     where environment_id = $1 and invoice_id = $2 and status = 'published' and derivation is not null`,
    [tx.scope.environmentId, id],
  );
  const payments = await tx.rows<{ amount: string; succeeded_at: string; type: string; last_four: string }>(
    `select trim_scale(p.amount)::text as amount, p.succeeded_at, p.payment_method_type as type, coalesce(m.last_four, '') as last_four
     from payment p left join payment_method m on m.environment_id = p.environment_id and m.id = p.payment_method_id
     where p.environment_id = $1 and p.destination_type = 'INVOICE' and p.destination_id = $2 and p.succeeded_at is not null
       and not p.unapplied and p.status = 'published' order by p.succeeded_at, p.id`,
    [tx.scope.environmentId, id],
  );
  return {
    ...page,
    derivations: new Map(lines.map((line) => [line.id, line.derivation])),
    payments: payments.map(({ succeeded_at, last_four, ...rest }) => ({
      ...rest,
      paidAt: instantText(succeeded_at),
      lastFour: last_four,
    })),
  };
}

/** An invoice with what the document `documentId`, itself or a credit note of it, was issued with. */
export async function onPaper(tx: Transaction, documentId: string, invoice: InvoiceContent): Promise<PaperSource> {
  const paper = await readPaper(tx, tx.scope, documentId);
  if (paper) {
    const { seller, customer, texts } = paper;
    const { description, dueDate, metadata } = texts;
    const row = { ...invoice.row, description, dueDate, metadata };
    return {
      invoice: { ...invoice, row, customer },
      seller,
      config: seller.look,
      terms: seller.terms,
      layout: texts.layout ?? 1,
    };
  }
  return { invoice, ...(await readSeller(tx)), terms: await readSetting(tx, 'e_invoice_config'), layout: paperLayout };
}

/** The seller and the look of its documents as they are now. */
export async function readSeller(tx: Transaction): Promise<Pick<PaperSource, 'seller' | 'config'>> {
  const seller = await tx.em.findOne(Tenant, { id: tx.scope.tenantId });
  return { seller, config: await readSetting(tx, 'invoice_pdf_config') };
}

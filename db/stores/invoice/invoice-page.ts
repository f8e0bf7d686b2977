import { Tenant } from '../../entities/tenant.ts';
import type { Transaction } from '../../transaction.ts';
import { readSetting } from '../platform/setting.ts';
import type { SettingValue } from '../platform/setting-defaults.ts';
import { findInvoice, type InvoiceContent } from './invoice-read.ts';

/** What the page of an invoice is made of. */
export interface InvoicePageSource {
  invoice: InvoiceContent;
  seller: Tenant | null;
  config: SettingValue<'invoice_pdf_config'>;
}

/** Reads an invoice with its lines and customer, who sends it, and how its page looks. Throws `not_found`. spec: §1.11, platform §8 */
export async function readInvoicePage(tx: Transaction, id: string): Promise<InvoicePageSource> {
  const invoice = await findInvoice(tx, id, { lines: true, customer: true });
  const seller = await tx.em.findOne(Tenant, { id: tx.scope.tenantId });
  return { invoice, seller, config: await readSetting(tx, 'invoice_pdf_config') };
}

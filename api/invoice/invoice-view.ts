import type { Transaction } from '../../db/transaction.ts';
import type { listInvoices } from '../../services/invoice/read/invoice-list.ts';
import { findInvoice, type InvoiceContent, type InvoiceParts } from '../../services/invoice/read/invoice-read.ts';
import { listSubscriptions } from '../../services/subscription/read/subscription-read.ts';
import { toListQuery, viewList } from '../list.ts';
import { viewSubscription } from '../subscription/subscription-view.schema.ts';
import { viewInvoice } from './invoice.schema.ts';
import type { InvoiceUsage } from './invoice-usage.schema.ts';

/** What is read beside the rows of invoices that are shown. */
export type Wanted = InvoiceParts & { subscription: boolean };

const wholeInvoice: Wanted = { lines: true, customer: false, subscription: false };

/** One invoice as it is shown, with the parts asked for. */
export async function viewWhole(
  tx: Transaction,
  content: InvoiceContent,
  parts: Wanted,
  usage: InvoiceUsage | null = null,
) {
  const subscriptions = await subscriptionsOf(tx, [content], parts);
  return viewInvoice(content, subscriptions.get(content.row.subscriptionId ?? ''), usage);
}

/** One invoice with its lines, by id. Throws `not_found`. */
export async function viewById(tx: Transaction, id: string) {
  return viewWhole(tx, await findInvoice(tx, id, wholeInvoice), wholeInvoice);
}

/** A page of invoices as they are shown. */
export async function viewPage(tx: Transaction, page: Awaited<ReturnType<typeof listInvoices>>, parts: Wanted) {
  const subscriptions = await subscriptionsOf(tx, page.rows, parts);
  return viewList(page, (content) => viewInvoice(content, subscriptions.get(content.row.subscriptionId ?? '')), 'echo');
}

/** The subscriptions of invoices as they are shown, read once for all of them. */
async function subscriptionsOf(
  tx: Transaction,
  invoices: readonly InvoiceContent[],
  parts: Wanted,
): Promise<Map<string, unknown>> {
  const ids = [...new Set(invoices.flatMap(({ row }) => (parts.subscription ? (row.subscriptionId ?? []) : [])))];
  if (ids.length === 0) return new Map();
  const { rows } = await listSubscriptions(tx, toListQuery({ limit: ids.length }), { subscriptionIds: ids });
  return new Map(rows.map((content) => [content.row.id, viewSubscription(content)]));
}

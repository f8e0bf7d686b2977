import { customerNow } from '../../../db/clock.ts';
import { Customer } from '../../../db/entities/customer/customer.ts';
import { CouponApplication } from '../../../db/entities/invoice/coupon-application.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import { TaxApplied } from '../../../db/entities/invoice/tax-applied.ts';
import { Payment } from '../../../db/entities/payment/payment.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';

/** An invoice with what its view shows. Lines come without their derivation, which only `explain` reads. */
export interface InvoiceContent {
  row: Invoice;
  lines: Omit<InvoiceLineItem, 'derivation'>[];
  /** In order of application. */
  taxes: TaxApplied[];
  /** In order of application. */
  coupons: CouponApplication[];
  customer: Customer | null;
}

/** What is read beside the rows of invoices. */
export interface InvoiceParts {
  lines: boolean;
  customer: boolean;
}

/** One invoice of the environment. Throws `not_found`, also for one whose checkout session ended unpaid. spec: subscriptions-and-invoicing §1.11 */
export async function findInvoice(tx: Transaction, id: string, parts: InvoiceParts): Promise<InvoiceContent> {
  const row = await tx.em.findOne(Invoice, { id, environmentId: tx.scope.environmentId, status: 'published' });
  const [content] = await withContent(tx, row ? [row] : [], parts);
  if (!content) throw missing('invoice', id);
  return content;
}

/** Invoices by id, archived or not; an id of nobody's is left out. */
export async function findInvoices(
  tx: Transaction,
  ids: readonly string[],
  parts: InvoiceParts,
): Promise<InvoiceContent[]> {
  if (ids.length === 0) return [];
  return withContent(tx, await tx.em.find(Invoice, { environmentId: tx.scope.environmentId, id: { $in: ids } }), parts);
}

/** The lines, taxes, coupons and customers of invoices, in a fixed number of statements. */
export async function withContent(
  tx: Transaction,
  rows: readonly Invoice[],
  parts: InvoiceParts,
): Promise<InvoiceContent[]> {
  if (rows.length === 0) return [];
  const lines = parts.lines ? await linesOf(tx, rows) : new Map<string, InvoiceContent['lines']>();
  const customers = parts.customer ? await customersOf(tx, rows) : new Map<string, Customer>();
  const taxes = await taxesOf(tx, rows);
  const coupons = await couponsOf(tx, rows);
  return rows.map((row) => ({
    row,
    lines: lines.get(row.id) ?? [],
    taxes: taxes.get(row.id) ?? [],
    coupons: coupons.get(row.id) ?? [],
    customer: customers.get(row.customerId) ?? null,
  }));
}

/** Whose invoice it is and that customer's present: what a command needs before its workflow is asked. Throws `not_found`. */
export async function invoiceOwner(
  tx: Transaction,
  id: string,
): Promise<{ id: string; customerId: string; testClockId: string | null; at: string }> {
  const row = await tx.em.findOne(
    Invoice,
    { id, environmentId: tx.scope.environmentId, status: 'published' },
    { fields: ['id', 'customerId', 'testClockId'] },
  );
  if (!row) throw missing('invoice', id);
  const { customerId, testClockId } = row;
  return { id, customerId, testClockId: testClockId ?? null, at: await customerNow(tx, customerId) };
}

/** A customer who is to be invoiced, and its present. Throws `not_found`. */
export async function invoiceCustomer(
  tx: Transaction,
  customerId: string,
): Promise<{ customerId: string; testClockId: string | null; at: string }> {
  const row = await tx.em.findOne(Customer, { id: customerId, environmentId: tx.scope.environmentId });
  if (!row) throw missing('customer', customerId, 'customer_id');
  return { customerId, testClockId: row.testClockId ?? null, at: await customerNow(tx, customerId) };
}

/** The newest payment of an invoice; null when none was ever opened. */
export async function latestPayment(tx: Transaction, invoiceId: string): Promise<Payment | null> {
  return tx.em.findOne(
    Payment,
    { environmentId: tx.scope.environmentId, destinationType: 'INVOICE', destinationId: invoiceId },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

async function linesOf(tx: Transaction, rows: readonly Invoice[]): Promise<Map<string, InvoiceContent['lines']>> {
  const lines = await tx.em.find(
    InvoiceLineItem,
    { environmentId: tx.scope.environmentId, invoiceId: { $in: rows.map((row) => row.id) }, status: 'published' },
    { exclude: ['derivation'], orderBy: { invoiceId: 'asc', position: 'asc', id: 'asc' } },
  );
  return Map.groupBy(lines as InvoiceContent['lines'], (line) => line.invoiceId);
}

/** The tax rows of invoices by invoice id, in order of application. */
export async function taxesOf(tx: Transaction, rows: readonly Invoice[]): Promise<Map<string, TaxApplied[]>> {
  // An invoice that says why it has no tax has no rows to look for.
  const ids = rows.filter((row) => (row.noTaxReason ?? null) === null).map((row) => row.id);
  if (ids.length === 0) return new Map();
  const taxes = await tx.em.find(
    TaxApplied,
    { environmentId: tx.scope.environmentId, entityId: { $in: ids } },
    { orderBy: { entityId: 'asc', position: 'asc' } },
  );
  return Map.groupBy(taxes, (tax) => tax.entityId);
}

/** The coupon rows of invoices by invoice id, in order of application; those of a voided invoice stay on its document. */
export async function couponsOf(tx: Transaction, rows: readonly Invoice[]): Promise<Map<string, CouponApplication[]>> {
  const ids = rows.filter((row) => row.totalDiscount !== '0').map((row) => row.id);
  if (ids.length === 0) return new Map();
  const coupons = await tx.em.find(
    CouponApplication,
    { environmentId: tx.scope.environmentId, invoiceId: { $in: ids } },
    { orderBy: { invoiceId: 'asc', position: 'asc' } },
  );
  return Map.groupBy(coupons, (coupon) => coupon.invoiceId);
}

async function customersOf(tx: Transaction, rows: readonly Invoice[]): Promise<Map<string, Customer>> {
  const ids = [...new Set(rows.map((row) => row.customerId))];
  const customers = await tx.em.find(Customer, { environmentId: tx.scope.environmentId, id: { $in: ids } });
  return new Map(customers.map((customer) => [customer.id, customer]));
}

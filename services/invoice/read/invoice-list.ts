import { Customer } from '../../../db/entities/customer/customer.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { type InvoiceTotal, rankBelow, totalOfInvoices } from './invoice-count.ts';
import type { InvoiceFilters, Maybe } from './invoice-filters.ts';
import { type InvoiceContent, type InvoiceParts, withContent } from './invoice-read.ts';

const invoices: ListDefinition<Invoice> = {
  entity: Invoice,
  columns: {
    customer_id: 'string',
    subscription_id: 'string',
    subscription_customer_id: 'string',
    invoice_number: 'string',
    idempotency_key: 'string',
    invoice_type: 'string',
    invoice_status: 'string',
    payment_status: 'string',
    billing_reason: 'string',
    billing_period: 'string',
    billing_sequence: 'integer',
    currency: 'string',
    subtotal: 'decimal',
    total_discount: 'decimal',
    total_tax: 'decimal',
    total: 'decimal',
    amount_due: 'decimal',
    amount_paid: 'decimal',
    amount_remaining: 'decimal',
    description: 'string',
    period_start: 'date',
    period_end: 'date',
    issue_date: 'date',
    due_date: 'date',
    paid_at: 'date',
    finalized_at: 'date',
    voided_at: 'date',
    last_computed_at: 'date',
    is_manually_edited: 'boolean',
    source_type: 'string',
    version: 'integer',
  },
};

/** One page of invoices with the parts asked for. Archived ones only where that status is asked for. spec: §1.11 */
export async function listInvoices(
  tx: Transaction,
  query: ListQuery,
  filters: InvoiceFilters,
  parts: InvoiceParts,
): Promise<ListPage<InvoiceContent>> {
  const counted = await totalOfInvoices(tx, query, filters);
  const own = { $and: [await conditions(tx, filters), createdWithin(counted?.created ?? null)] };
  const page = await listPage(tx, invoices, query, own, counted?.total ?? null);
  return { ...page, rows: await withContent(tx, page.rows, parts) };
}

async function conditions(tx: Transaction, filters: InvoiceFilters): Promise<Record<string, unknown>> {
  const every: Record<string, unknown>[] = [
    anyOf('id', filters.invoiceIds),
    anyOf('subscriptionCustomerId', filters.subscriptionCustomerIds),
    anyOf('invoiceStatus', filters.invoiceStatuses),
    anyOf('paymentStatus', filters.paymentStatuses),
    equal('customerId', filters.customerId),
    equal('subscriptionId', filters.subscriptionId),
    equal('invoiceType', filters.invoiceType),
    equal('billingReason', filters.billingReason),
    equal('currency', filters.currency),
    above('amountDue', filters.amountDueAbove),
    above('amountRemaining', filters.amountRemainingAbove),
    compared('periodStart', '$gte', filters.periodStartFrom),
    compared('periodStart', '$lte', filters.periodStartUntil),
    compared('periodEnd', '$gte', filters.periodEndFrom),
    compared('periodEnd', '$lte', filters.periodEndUntil),
  ];
  if (filters.externalCustomerId) every.push(await ofExternalCustomer(tx, filters.externalCustomerId));
  return { $and: every };
}

/** The invoices of everybody who ever was the live customer of this external id. */
async function ofExternalCustomer(tx: Transaction, externalId: string): Promise<Record<string, unknown>> {
  const customers = await tx.em.find(
    Customer,
    { environmentId: tx.scope.environmentId, externalId },
    { fields: ['id'] },
  );
  return { customerId: { $in: customers.map((customer) => customer.id) } };
}

function equal(property: string, value: Maybe<string>): Record<string, unknown> {
  return value ? { [property]: value } : {};
}

/** The rank says the same a little wider, in a form that an index is used for. */
function above(property: string, amount: Maybe<string>): Record<string, unknown> {
  return amount ? { [property]: { $gt: amount }, [`${property}Rank`]: { $gt: rankBelow(amount) } } : {};
}

/** Where in the order of lists the matches are: periods and amounts of a time may lie far from where a page begins. */
function createdWithin(created: InvoiceTotal['created']): Record<string, unknown> {
  return created ? { createdAt: { $gte: created.from, $lte: created.until } } : {};
}

function compared(property: string, operator: '$gte' | '$lte', value: Maybe<string>): Record<string, unknown> {
  return value ? { [property]: { [operator]: value } } : {};
}

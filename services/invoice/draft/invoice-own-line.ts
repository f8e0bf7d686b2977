import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { NewInvoiceLine } from '../../../billing/invoice/invoice-line-request.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** The invoice that lines are given to. */
export interface LinedInvoice {
  invoiceId: string;
  customerId: string;
  subscriptionId: string | null;
  currency: string;
}

/** Objects that lines may name, by the member that names them. */
const named = [
  { table: 'price', noun: 'price', field: 'price_id', member: 'priceId' },
  { table: 'plan', noun: 'plan', field: 'plan_id', member: 'planId' },
  { table: 'meter', noun: 'meter', field: 'meter_id', member: 'meterId' },
] as const;

/**
 * Refuses lines that name what is not there (`not_found`), a subscription of somebody else or in another currency, or a line
 * item of another subscription than the line says (`validation_error`). spec: subscriptions-and-invoicing §1.11.1, error 3
 */
export async function checkNamedByLines(
  sql: Sql,
  scope: Scope,
  invoice: Pick<LinedInvoice, 'customerId' | 'currency'>,
  lines: readonly NewInvoiceLine[],
): Promise<void> {
  for (const { table, noun, field, member } of named) {
    const ids = lines.flatMap((line) => line[member] ?? []);
    if (ids.length === 0) continue;
    const rows = await sql.rows<{ id: string }>(`select id from ${table} where environment_id = $1 and id = any($2)`, [
      scope.environmentId,
      ids,
    ]);
    const known = new Set(rows.map(({ id }) => id));
    for (const [index, line] of lines.entries()) {
      const id = line[member];
      if (id !== null && !known.has(id)) throw missing(noun, id, `line_items[${index}].${field}`);
    }
  }
  await checkSubscriptions(sql, scope, invoice, lines);
  await checkLineItems(sql, scope, lines);
}

async function checkSubscriptions(
  sql: Sql,
  scope: Scope,
  { customerId, currency }: Pick<LinedInvoice, 'customerId' | 'currency'>,
  lines: readonly NewInvoiceLine[],
): Promise<void> {
  // Lines that were kept before they could name a subscription have none.
  const ids = lines.flatMap((line) => line.subscriptionId ?? []);
  if (ids.length === 0) return;
  const rows = await sql.rows<{
    id: string;
    customer_id: string;
    invoicing_customer_id: string;
    currency: string;
  }>(
    `select id, customer_id, invoicing_customer_id, currency from subscription
     where environment_id = $1 and id = any($2) and status = 'published' order by id for share`,
    [scope.environmentId, ids],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [index, { subscriptionId }] of lines.entries()) {
    if (!subscriptionId) continue;
    const field = `line_items[${index}].subscription_id`;
    const row = byId.get(subscriptionId);
    if (!row) throw missing('subscription', subscriptionId, field);
    if (![row.customer_id, row.invoicing_customer_id].includes(customerId)) {
      throw badField(field, `names a subscription of another customer, ${row.customer_id}`);
    }
    if (row.currency !== currency)
      throw badField(field, `names a subscription in ${row.currency}; the invoice is in ${currency}`);
  }
}

async function checkLineItems(sql: Sql, scope: Scope, lines: readonly NewInvoiceLine[]): Promise<void> {
  const ids = lines.flatMap((line) => line.subscriptionLineItemId ?? []);
  if (ids.length === 0) return;
  const rows = await sql.rows<{ id: string; subscription_id: string }>(
    'select id, subscription_id from subscription_line_item where environment_id = $1 and id = any($2)',
    [scope.environmentId, ids],
  );
  const ownerOf = new Map(rows.map((row) => [row.id, row.subscription_id]));
  for (const [index, { subscriptionLineItemId: id, subscriptionId }] of lines.entries()) {
    if (id === null) continue;
    const field = `line_items[${index}].subscription_line_item_id`;
    const owner = ownerOf.get(id);
    if (owner === undefined) throw missing('subscription line item', id, field);
    if (subscriptionId && owner !== subscriptionId)
      throw badField(field, `must be of subscription_id, ${subscriptionId}; it is of ${owner}`);
  }
}

/** Given lines as rows, in their order, with what the pipeline made of them. */
export function ownLineRows(
  scope: Scope,
  { invoiceId, customerId, subscriptionId, currency }: LinedInvoice,
  lines: readonly (NewInvoiceLine & { id: string })[],
  amounts: InvoiceAmounts['lines'],
): object[] {
  const now = new Date().toISOString();
  return lines.map((line, position) => ({
    ...line,
    ...amounts[position],
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    invoiceId,
    customerId,
    subscriptionId: line.subscriptionId ?? subscriptionId,
    position,
    displayName: line.displayName ?? '',
    currency,
  }));
}

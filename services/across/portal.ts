import type { ListPage, ListQuery } from '../../db/list.ts';
import type { Database } from '../../db/orm.ts';
import { missing } from '../../db/rows/record.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, type Transaction } from '../../db/transaction.ts';
import { listInvoices } from '../invoice/read/invoice-list.ts';
import { findInvoice, type InvoiceContent } from '../invoice/read/invoice-read.ts';
import {
  findSubscription,
  listSubscriptions,
  type SubscriptionContent,
} from '../subscription/read/subscription-read.ts';

/** What a customer sees of its invoices and subscriptions: no drafts, and no invoices that billed nothing. spec: platform §11 */
const shownInvoices = ['FINALIZED', 'VOIDED'];
const shownSubscriptions = ['trialing', 'incomplete', 'active', 'paused', 'cancelled'];
const parts = { lines: true, customer: false };

/** The tenant's state while a customer may use the portal; null when the customer, its environment or its tenant is gone. */
export async function portalTenantState(
  database: Database,
  session: { customerId: string; tenantId: string; environmentId: string },
): Promise<string | null> {
  const rows = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<{ state: string }>(
      `select t.state from customer c
       join environment e on e.id = c.environment_id and e.tenant_id = c.tenant_id and e.status = 'published'
       join tenant t on t.id = c.tenant_id and t.status = 'published'
       where c.id = $1 and c.tenant_id = $2 and c.environment_id = $3 and c.status = 'published'`,
      [session.customerId, session.tenantId, session.environmentId],
    ),
  );
  return rows[0]?.state ?? null;
}

/** One page of a customer's own subscriptions. */
export function portalSubscriptions(
  tx: Transaction,
  customerId: string,
  query: ListQuery,
): Promise<ListPage<SubscriptionContent>> {
  return listSubscriptions(tx, query, { customerIds: [customerId], statuses: shownSubscriptions });
}

/** One of a customer's own subscriptions. Throws `not_found`, also for somebody else's. */
export async function portalSubscription(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<SubscriptionContent> {
  const content = await findSubscription(tx, id);
  const shown = content.row.customerId === customerId && shownSubscriptions.includes(content.row.subscriptionStatus);
  if (!shown) throw missing('subscription', id);
  return content;
}

/** One page of the invoices a customer has to pay or had to. */
export function portalInvoices(
  tx: Transaction,
  customerId: string,
  query: ListQuery,
): Promise<ListPage<InvoiceContent>> {
  return listInvoices(tx, query, { customerId, invoiceStatuses: shownInvoices }, parts);
}

/** One of a customer's own invoices. Throws `not_found`, also for somebody else's. */
export async function portalInvoice(tx: Transaction, customerId: string, id: string): Promise<InvoiceContent> {
  const content = await findInvoice(tx, id, parts);
  const { row } = content;
  const shown =
    row.customerId === customerId && row.status === 'published' && shownInvoices.includes(row.invoiceStatus);
  if (!shown) throw missing('invoice', id);
  return content;
}

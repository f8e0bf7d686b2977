import { CheckoutSession } from '../../../db/entities/payment/checkout-session.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing } from '../../../db/rows/record.ts';
import type { ScopedSql, Transaction } from '../../../db/transaction.ts';

const sessions: ListDefinition<CheckoutSession> = {
  entity: CheckoutSession,
  columns: {
    customer_id: 'string',
    action: 'string',
    checkout_status: 'string',
    payment_provider: 'string',
    amount: 'decimal',
    currency: 'string',
    expires_at: 'date',
    completed_at: 'date',
    cancelled_at: 'date',
  },
};

/** Filters of a list of sessions; absent members do not narrow. design: money-in-checkout §B19 */
export interface CheckoutFilters {
  customerId?: string | undefined;
  statuses?: readonly string[] | undefined;
  actions?: readonly string[] | undefined;
  paymentProvider?: string | undefined;
  invoiceId?: string | undefined;
  subscriptionId?: string | undefined;
  walletId?: string | undefined;
}

/** One session. Throws `not_found`, also for an archived one. spec: wallets-and-payments §1.4 */
export async function findCheckout(tx: Transaction, id: string): Promise<CheckoutSession> {
  const row = await tx.em.findOne(CheckoutSession, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('checkout session', id);
  return row;
}

/** The session by which an invoice can be paid now; null when there is none. */
export async function runningCheckoutOf(tx: Transaction, invoiceId: string): Promise<CheckoutSession | null> {
  return tx.em.findOne(CheckoutSession, {
    environmentId: tx.scope.environmentId,
    checkoutInvoiceId: invoiceId,
    checkoutStatus: { $in: ['initiated', 'pending'] },
    status: 'published',
  });
}

/** The session whose page has this token; null when there is none. Read in the system scope: the token says whose it is. */
export async function checkoutOfToken(
  sql: Pick<ScopedSql, 'rows'>,
  tokenHash: string,
): Promise<{ id: string; tenantId: string; environmentId: string } | null> {
  const [row] = await sql.rows<{ id: string; tenantId: string; environmentId: string }>(
    'select id, tenant_id as "tenantId", environment_id as "environmentId" from checkout_session where token_hash = $1',
    [tokenHash],
    'checkout-of-token',
  );
  return row ?? null;
}

/** One page of sessions; those that save a method are not among them. design: money-in §3 Setup mode */
export function listCheckouts(
  tx: Transaction,
  query: ListQuery,
  filters: CheckoutFilters,
): Promise<ListPage<CheckoutSession>> {
  return listPage(tx, sessions, query, {
    ...anyOf('checkoutStatus', filters.statuses),
    action: { $ne: 'save_method', ...(filters.actions?.length ? { $in: filters.actions } : {}) },
    ...(filters.customerId ? { customerId: filters.customerId } : {}),
    ...(filters.paymentProvider ? { paymentProvider: filters.paymentProvider } : {}),
    ...(filters.invoiceId ? { checkoutInvoiceId: filters.invoiceId } : {}),
    ...(filters.subscriptionId ? { subscriptionId: filters.subscriptionId } : {}),
    ...(filters.walletId ? { walletId: filters.walletId } : {}),
  });
}

/** Archives a session that has ended. spec: wallets-and-payments §2.17 terminal, DELETE */
export async function archiveCheckout(tx: Transaction, id: string): Promise<void> {
  const row = await findCheckout(tx, id);
  row.status = 'archived';
  row.updatedAt = new Date().toISOString();
  row.updatedBy = tx.scope.actor;
}

import { checkoutMove } from '../../../billing/payment/checkout.ts';
import { refuse } from '../../../billing/refusal.ts';
import { customerNow } from '../../../db/clock.ts';
import type { Scope } from '../../../db/scope.ts';
import type { ScopedSql, Sql } from '../../../db/transaction.ts';
import { type CheckoutEnd, endCheckout, failCheckoutPayment, tellCheckoutEnd } from '../../collection/checkout-end.ts';
import { type CheckoutRow, checkoutColumns } from '../../collection/checkout-row.ts';
import { refreshInvoiceAgenda } from '../read/invoice-snapshot.ts';

/** Open pages of an invoice, as the end of a statement: $1 is the environment, $2 the invoice. */
const openLinks = `from checkout_session where environment_id = $1 and checkout_invoice_id = $2 and status = 'published'
  and checkout_status in ('initiated', 'pending')`;

/**
 * Ends the pages of a final invoice whose remainder is about to change, in the transaction of the change and before the invoice is
 * locked. Such a page has drafted nothing but its payment; sessions of drafts are left to their own rule. Their workflows close the links.
 * design: money-in-checkout §A9
 */
export async function endLinksOf(tx: ScopedSql, invoiceId: string, at: string): Promise<void> {
  const [invoice] = await tx.rows<{ invoice_status: string }>(
    'select invoice_status from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, invoiceId],
  );
  if (invoice?.invoice_status !== 'FINALIZED') return;
  const rows = await tx.rows<CheckoutRow>(`select ${checkoutColumns} ${openLinks} for update`, [
    tx.scope.environmentId,
    invoiceId,
  ]);
  for (const row of rows) {
    const move = checkoutMove(row.checkout_status, 'superseded');
    await endLink(tx, row, { move, linkState: 'open', isAsked: false, at });
  }
  if (rows.length > 0) await refreshInvoiceAgenda(tx, tx.scope, invoiceId);
}

async function endLink(tx: ScopedSql, row: CheckoutRow, end: CheckoutEnd): Promise<void> {
  const ended = await endCheckout(tx, row, end);
  if (!ended) return;
  const failed = await failCheckoutPayment(tx, row, end, 'published');
  await tellCheckoutEnd(tx, ended, failed, end);
}

/** Ends the pages of a final invoice as `endLinksOf`, at the present of its customer. */
export async function endLinksNow(tx: ScopedSql, invoiceId: string): Promise<void> {
  const [invoice] = await tx.rows<{ customer_id: string }>(
    'select customer_id from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, invoiceId],
  );
  if (invoice) await endLinksOf(tx, invoiceId, await customerNow(tx, invoice.customer_id));
}

/** Refuses (invalid_operation) another payment of an invoice while a page of it can be paid. design: money-in-checkout §A9 */
export async function refuseBesideLink(sql: Sql, scope: Scope, invoiceId: string): Promise<void> {
  const [open] = await sql.rows<{ id: string }>(`select id ${openLinks}`, [scope.environmentId, invoiceId]);
  if (!open) return;
  throw refuse(
    'invalid_operation',
    `invoice ${invoiceId} can be paid on the page of checkout session ${open.id}; cancel that first, or wait until it ends`,
    { context: { checkout_session_id: open.id } },
  );
}

import { customerNow } from '../../../db/clock.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type CheckoutRow, checkoutColumns } from './checkout-row.ts';
import { supersedeCheckouts } from './checkout-supersede.ts';

/** Open pages of an invoice, as the end of a statement: $1 is the environment, $2 the invoice. */
export const openLinks = `from checkout_session where environment_id = $1 and checkout_invoice_id = $2 and status = 'published'
  and checkout_status in ('initiated', 'pending')`;

/**
 * Ends the pages of a final invoice whose remainder is about to change, in the transaction of the change and before the invoice is
 * locked. Sessions of drafts are left to their own rule. design: money-in-checkout §A9
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
  await supersedeCheckouts(tx, rows, at);
}

/** Ends the pages of a final invoice as `endLinksOf`, at the present of its customer. */
export async function endLinksNow(tx: ScopedSql, invoiceId: string): Promise<void> {
  const [invoice] = await tx.rows<{ customer_id: string }>(
    'select customer_id from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, invoiceId],
  );
  if (invoice) await endLinksOf(tx, invoiceId, await customerNow(tx, invoice.customer_id));
}

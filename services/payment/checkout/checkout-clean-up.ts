import type { ScopedSql } from '../../../db/transaction.ts';
import {
  type CheckoutEnd,
  endCheckout,
  failCheckoutPayment,
  neverPaid,
  tellCheckoutEnd,
} from '../../collection/checkout-end.ts';
import type { CheckoutRow } from '../../collection/checkout-row.ts';
import { dropGatedInvoice } from '../../invoice/issue/gated-invoice.ts';
import { refreshInvoiceAgenda } from '../../invoice/read/invoice-snapshot.ts';
import { dropFrozenDraft } from '../../subscription/create/subscription-frozen-drop.ts';
import { dropPlan } from '../../subscription/plan-change/subscription-planned.ts';
import { failPurchase } from '../../topup/wallet-purchase.ts';

/**
 * Ends a session that was not paid and takes back all it had drafted: subscription, invoice with its credits and coupons, purchase with
 * its bonus, payment. All of it or nothing; whoever comes second finds the session ended and gets null.
 * spec: wallets-and-payments §2.17 Clean-up
 */
export async function cleanUpCheckout(tx: ScopedSql, row: CheckoutRow, end: CheckoutEnd): Promise<CheckoutRow | null> {
  const { at } = end;
  const ended = await endCheckout(tx, row, end);
  if (!ended) return null;
  if (row.action === 'create_subscription' && row.subscription_id) {
    await dropFrozenDraft(tx, tx.scope, row.subscription_id, at);
  }
  if (row.planned) await dropPlan(tx, tx.scope, row.planned);
  const invoiceId = row.checkout_invoice_id;
  const isDropped = invoiceId !== null && (await dropGatedInvoice(tx, tx.scope, invoiceId, at));
  const failed = await failCheckoutPayment(tx, row, end, isDropped ? 'archived' : 'published');
  // An invoice that was final before is collected again in the ways it was.
  if (invoiceId !== null && !isDropped) await refreshInvoiceAgenda(tx, tx.scope, invoiceId);
  if (row.purchase_id) await failPurchase(tx, tx.scope, row.purchase_id, neverPaid);
  await tellCheckoutEnd(tx, ended, failed, end);
  return ended;
}

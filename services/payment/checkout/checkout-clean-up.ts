import { type CheckoutMove, failureSentence } from '../../../billing/payment/checkout.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type PaymentRow, paymentAudit, paymentColumns, paymentEvent } from '../../collection/payment-row.ts';
import { dropGatedInvoice } from '../../invoice/issue/gated-invoice.ts';
import { refreshInvoiceAgenda } from '../../invoice/read/invoice-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { dropFrozenDraft } from '../../subscription/create/subscription-frozen-drop.ts';
import { dropPlan } from '../../subscription/plan-change/subscription-planned.ts';
import { failPurchase } from '../../topup/wallet-purchase.ts';
import { type CheckoutRow, changeCheckout, checkoutAudit, checkoutEvent } from './checkout-row.ts';

const neverPaid = 'the checkout session expired before it was paid';

/**
 * Ends a session that was not paid and takes back all it had drafted: subscription, invoice with its credits and coupons, purchase with
 * its bonus, payment. All of it or nothing; whoever comes second finds the session ended and gets null. What the link does meanwhile is
 * `linkState`; one whose provider was not asked (`isAsked`) is closed at once. spec: wallets-and-payments §2.17 Clean-up
 */
export async function cleanUpCheckout(
  tx: ScopedSql,
  row: CheckoutRow,
  end: { move: CheckoutMove; linkState: CheckoutRow['link_state']; at: string; message?: string; isAsked?: boolean },
): Promise<CheckoutRow | null> {
  const { move, at, linkState, isAsked = true } = end;
  const isCancelled = move.failureReason === 'cancelled';
  const ended = await changeCheckout(tx, row, {
    sets: `checkout_status = $4, failure_reason = $5, failure_message = $6, ended_at = $7, link_state = $8, page_token = null,
      cancelled_at = case when $9 then $7::timestamptz end, asked_at = $10, completion_failed_at = null`,
    values: [
      move.to,
      move.failureReason,
      end.message ?? failureSentence(move.failureReason),
      at,
      linkState,
      isCancelled,
      isAsked ? at : null,
    ],
    at,
    condition: `checkout_status in ('initiated', 'pending')`,
    plan: 'checkout-ended',
  });
  if (!ended) return null;
  if (row.action === 'create_subscription' && row.subscription_id) {
    await dropFrozenDraft(tx, tx.scope, row.subscription_id, at);
  }
  if (row.planned) await dropPlan(tx, tx.scope, row.planned);
  const invoiceId = row.checkout_invoice_id;
  const isDropped = invoiceId !== null && (await dropGatedInvoice(tx, tx.scope, invoiceId, at));
  const reason = failureSentence(move.failureReason) ?? neverPaid;
  const failed = await failPayment(tx, row, { reason, at, status: isDropped ? 'archived' : 'published' });
  // An invoice that was final before is collected again in the ways it was.
  if (invoiceId !== null && !isDropped) await refreshInvoiceAgenda(tx, tx.scope, invoiceId);
  if (row.purchase_id) await failPurchase(tx, tx.scope, row.purchase_id, neverPaid);
  await writeEvents(tx, tx.scope, [
    ...(failed ? [paymentEvent('payment.failed', failed, null, at)] : []),
    ...(move.eventName ? [checkoutEvent(move.eventName, ended, at)] : []),
  ]);
  await writeAudit(tx, tx.scope, [
    ...(failed ? [paymentAudit(failed, 'failed', at, { reason, checkout_session_id: row.id })] : []),
    checkoutAudit(ended, move.to, at, { reason: move.failureReason }),
  ]);
  return ended;
}

/** The payment of a session that ended: failed, and archived with an invoice that is. Null where it was settled before. */
async function failPayment(
  tx: ScopedSql,
  row: CheckoutRow,
  { reason, at, status }: { reason: string; at: string; status: 'archived' | 'published' },
): Promise<PaymentRow | null> {
  const [failed] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set payment_status = 'FAILED', failed_at = $3, error_message = $4, status = $7, version = version + 1,
       updated_at = $5, updated_by = $6
     where environment_id = $1 and id = $2 and payment_status in ('INITIATED', 'PENDING', 'PROCESSING') returning ${paymentColumns}`,
    [tx.scope.environmentId, row.checkout_payment_id, at, reason, new Date().toISOString(), tx.scope.actor, status],
    'checkout-payment-failed',
  );
  return failed ?? null;
}

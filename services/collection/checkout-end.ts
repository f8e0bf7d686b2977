import { type CheckoutMove, failureSentence } from '../../billing/payment/checkout.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { type CheckoutRow, changeCheckout, checkoutAudit, checkoutEvent } from './checkout-row.ts';
import { type PaymentRow, paymentAudit, paymentColumns, paymentEvent } from './payment-row.ts';

/** End of a session that was not paid. `linkState` is what is known of its link. */
export interface CheckoutEnd {
  move: CheckoutMove;
  linkState: CheckoutRow['link_state'];
  at: string;
  message?: string;
  /** The provider was asked already; true when absent. Otherwise the workflow closes the link at once. */
  isAsked?: boolean;
}

/** Reason of what fails with a session that ran out. */
export const neverPaid = 'the checkout session expired before it was paid';

/** Marks a locked session as ended. Null where it had ended before: whoever comes second does nothing. */
export function endCheckout(tx: ScopedSql, row: CheckoutRow, end: CheckoutEnd): Promise<CheckoutRow | null> {
  const { move, at, linkState, isAsked = true } = end;
  return changeCheckout(tx, row, {
    sets: `checkout_status = $4, failure_reason = $5, failure_message = $6, ended_at = $7, link_state = $8, page_token = null,
      cancelled_at = case when $9 then $7::timestamptz end, asked_at = $10, completion_failed_at = null`,
    values: [
      move.to,
      move.failureReason,
      end.message ?? failureSentence(move.failureReason),
      at,
      linkState,
      move.failureReason === 'cancelled',
      isAsked ? at : null,
    ],
    at,
    condition: `checkout_status in ('initiated', 'pending')`,
    plan: 'checkout-ended',
  });
}

const reasonOf = ({ move }: CheckoutEnd): string => failureSentence(move.failureReason) ?? neverPaid;

/** Fails the payment of a session that ended, and archives it where its invoice is archived. Null where it was settled before. */
export async function failCheckoutPayment(
  tx: ScopedSql,
  row: CheckoutRow,
  end: CheckoutEnd,
  status: 'archived' | 'published',
): Promise<PaymentRow | null> {
  const [failed] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set payment_status = 'FAILED', failed_at = $3, error_message = $4, status = $7, version = version + 1,
       updated_at = $5, updated_by = $6
     where environment_id = $1 and id = $2 and payment_status in ('INITIATED', 'PENDING', 'PROCESSING') returning ${paymentColumns}`,
    [
      tx.scope.environmentId,
      row.checkout_payment_id,
      end.at,
      reasonOf(end),
      new Date().toISOString(),
      tx.scope.actor,
      status,
    ],
    'checkout-payment-failed',
  );
  return failed ?? null;
}

/** Tells of a session that ended, and of its payment where that failed with it. */
export async function tellCheckoutEnd(
  tx: ScopedSql,
  ended: CheckoutRow,
  failed: PaymentRow | null,
  end: CheckoutEnd,
): Promise<void> {
  const { move, at } = end;
  await writeEvents(tx, tx.scope, [
    ...(failed ? [paymentEvent('payment.failed', failed, null, at)] : []),
    ...(move.eventName ? [checkoutEvent(move.eventName, ended, at)] : []),
  ]);
  const detail = { reason: reasonOf(end), checkout_session_id: ended.id };
  await writeAudit(tx, tx.scope, [
    ...(failed ? [paymentAudit(failed, 'failed', at, detail)] : []),
    checkoutAudit(ended, move.to, at, { reason: move.failureReason }),
  ]);
}

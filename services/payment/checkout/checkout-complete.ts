import type { LinkCapture, LinkedMethod } from '../../../billing/payment/checkout-link.ts';
import { newId } from '../../../db/id.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { refreshIncomplete } from '../../charging/subscription-snapshot.ts';
import { type CheckoutRow, changeCheckout, checkoutAudit, checkoutEvent } from '../../collection/checkout-row.ts';
import { issueGatedInvoice } from '../../invoice/issue/gated-invoice.ts';
import { refreshInvoiceAgenda } from '../../invoice/read/invoice-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { activateFrozen } from '../../subscription/create/subscription-frozen.ts';
import { carryOutPlan } from '../../subscription/plan-change/subscription-planned.ts';
import { type RecordedPayment, recordPaymentOutcome } from '../payment-outcome.ts';
import { takeCapturedAmount } from '../unapplied-capture.ts';
import type { CheckoutFollowers } from './checkout-followers.ts';
import { keepMethod, keepsMethod } from './checkout-method.ts';

/**
 * Carries out a paid order in one transaction: the session is claimed, the invoice gets its number and its payment, and what was bought
 * comes as it was frozen; in setup mode, without a capture, the payer's method is saved. Null when another had claimed it. What it throws leaves the session as it was.
 * spec: wallets-and-payments §2.17 Completion per action; design: money-in-checkout §A10, §B8
 */
export async function completeCheckout(
  tx: ScopedSql,
  row: CheckoutRow,
  { capture, savedMethod = null, at }: { capture: LinkCapture | null; savedMethod?: LinkedMethod | null; at: string },
): Promise<CheckoutFollowers | null> {
  const methodId = savedMethod !== null && keepsMethod(row) ? newId('pm') : null;
  const claimed = await changeCheckout(tx, row, {
    sets: `checkout_status = 'completed', completed_at = $4, ended_at = $4, link_state = 'dead', failure_reason = null, failure_message = null,
      completion_failed_at = null, asked_at = $4, answered_at = $4, page_token = null, result = $5`,
    values: [at, JSON.stringify(resultOf(row, methodId))],
    at,
    condition: `checkout_status in ('initiated', 'pending')`,
  });
  if (!claimed) return null;
  if (savedMethod !== null && methodId !== null) await keepMethod(tx, row, { id: methodId, method: savedMethod, at });
  await writeEvents(tx, tx.scope, [checkoutEvent('checkout.session.completed', claimed, at)]);
  await writeAudit(tx, tx.scope, [checkoutAudit(claimed, 'completed', at, { payment_id: row.checkout_payment_id })]);
  const { subscription_id: subscriptionId, checkout_invoice_id: invoiceId } = row;
  // In the order of locks: the subscription before its invoice.
  if (subscriptionId !== null) await carryOutSubscription(tx, row, subscriptionId, at);
  const isIssued = invoiceId !== null && (await issueGatedInvoice(tx, tx.scope, invoiceId, at));
  const settled = capture === null ? null : await settle(tx, row, capture, at);
  if (invoiceId !== null) await refreshInvoiceAgenda(tx, tx.scope, invoiceId);
  const { refundIds = [] } = settled ?? {};
  if (settled === null || isIssued) return { refundIds, subscriptionId, invoiceId: null };
  // An invoice that was final before has those who wait for its payment.
  await refreshIncomplete(tx, tx.scope.environmentId, [settled]);
  return { refundIds, subscriptionId: settled.subscriptionId, invoiceId };
}

async function carryOutSubscription(
  tx: ScopedSql,
  { action, planned }: CheckoutRow,
  subscriptionId: string,
  at: string,
): Promise<void> {
  if (action === 'create_subscription') await activateFrozen(tx, tx.scope, subscriptionId, at);
  else if (planned) await carryOutPlan(tx, tx.scope, { subscriptionId, plan: planned, at });
}

/** Records the money: as much as came, which may be more than was asked. */
async function settle(
  tx: ScopedSql,
  row: CheckoutRow,
  capture: LinkCapture,
  at: string,
): Promise<RecordedPayment | null> {
  const paymentId = row.checkout_payment_id;
  if (paymentId === null) return null;
  await takeCapturedAmount(tx, paymentId, capture.amount);
  const outcome = {
    status: 'succeeded',
    gatewayPaymentId: capture.chargeProviderId,
    gatewayMetadata: {},
    reason: null,
    actionUrl: null,
  } as const;
  return recordPaymentOutcome(tx, { paymentId, outcome, at });
}

/** What a session made, under the name of its action. spec: wallets-and-payments §1.4 result; design: money-in-checkout §B20 */
function resultOf(row: CheckoutRow, methodId: string | null): Record<string, unknown> {
  if (row.action === 'save_method') return { save_method_result: { payment_method_id: methodId } };
  const kept = methodId === null ? {} : { payment_method_id: methodId };
  const paid = { invoice_id: row.checkout_invoice_id, payment_id: row.checkout_payment_id, ...kept };
  const addon = row.planned?.kind === 'addon' ? { addon_association_id: row.planned.associationId } : {};
  const own = {
    create_subscription: { subscription_id: row.subscription_id },
    add_addon: { subscription_id: row.subscription_id, ...addon },
    modify_subscription: { subscription_id: row.subscription_id, ...addon },
    wallet_topup: { wallet_id: row.wallet_id, wallet_transaction_id: row.purchase_id },
    pay_invoice: {},
  };
  return { [`${row.action}_result`]: { ...paid, ...own[row.action] } };
}

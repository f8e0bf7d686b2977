import { isCheckoutActive } from '../../../billing/payment/checkout.ts';
import type { LinkOccasion, LinkStanding } from '../../../billing/payment/checkout-link.ts';
import { intentTokenOf } from '../../../billing/payment/payment.ts';
import { chooseSavedMethod, type SavedMethod } from '../../../billing/payment/saved-method.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type CheckoutRow, changeCheckout, checkoutAudit, lockCheckout } from '../../collection/checkout-row.ts';
import { chargeOfPayment, type PaymentCharge } from '../../collection/payment-charge.ts';
import { isChargedAlone } from '../../collection/payment-connection.ts';
import { type PaymentRow, paymentAudit, paymentColumns, paymentEvent } from '../../collection/payment-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { CheckoutFollowers } from './checkout-followers.ts';
import { noteDeclines, recordLink } from './checkout-settle.ts';

/**
 * The saved method that a session with `charge_automatically` charges before it opens a page: of its payer and its provider, chargeable
 * without the payer, within its mandate. Null where there is none. spec: wallets-and-payments §2.17 Saved methods; design: money-in-checkout §B9
 */
export async function savedMethodFor(
  tx: ScopedSql,
  session: { customerId: string; provider: string; providerConfig: Record<string, string>; amount: string; at: string },
): Promise<string | null> {
  if (session.providerConfig.collection_method !== 'charge_automatically') return null;
  const rows = await tx.rows<MethodRow>(
    `select id, type, max_amount, created_at from payment_method m
     where environment_id = $1 and customer_id = $2 and gateway = $3 and status = 'published' and ${isChargedAlone}`,
    [tx.scope.environmentId, session.customerId, session.provider],
  );
  const { amount, at: now, providerConfig } = session;
  const preferredType = providerConfig.payment_method ?? null;
  return chooseSavedMethod(rows.map(methodOf), { amount, now, preferredType })?.id ?? null;
}

interface MethodRow {
  id: string;
  type: string;
  max_amount: string | null;
  created_at: string;
  [column: string]: unknown;
}

// Only confirmed ones are kept, and the provider tells of one that has expired by declining it.
function methodOf({ id, type, max_amount, created_at }: MethodRow): SavedMethod {
  const maxAmount = max_amount === null ? null : decimalText(max_amount);
  return { id, type, status: 'confirmed', expiresAt: null, maxAmount, createdAt: instantText(created_at) };
}

/**
 * The charge of a session's saved method, as its gateway is asked for it or about it. Null for a session that pays on its page: it has no
 * such method, or that was declined. One that has ended is asked about until its charge is known to take no money.
 */
export async function savedChargeOf(tx: ScopedSql, sessionId: string): Promise<SavedCharge | null> {
  const [row] = await tx.rows<{ payment_id: string; is_active: boolean }>(
    `select p.id as payment_id, s.checkout_status in ('initiated', 'pending') as is_active
     from checkout_session s join payment p on p.id = s.checkout_payment_id
     where s.environment_id = $1 and s.id = $2 and p.payment_method_id is not null and s.link_state <> 'dead' and p.succeeded_at is null`,
    [tx.scope.environmentId, sessionId],
    'checkout-saved-charge',
  );
  if (!row) return null;
  const charge = await chargeOfPayment(tx, row.payment_id);
  const marker = { environment: tx.scope.environmentId, kind: 'checkout_session', id: sessionId };
  return {
    paymentId: row.payment_id,
    isActive: row.is_active,
    charge: { ...charge, metadata: { ...charge.metadata, ...marker } },
  };
}

export interface SavedCharge {
  paymentId: string;
  isActive: boolean;
  charge: PaymentCharge;
}

/**
 * Records what became of the charge of a saved method. Captured, it completes the session. Declined, the session goes on by its page, which
 * is to be opened (`opensPage`), or ends where that was asked. Undecided, it is `pending` without a page, and is asked about again; it cannot be
 * cancelled while a provider says so. Throws as `recordLink`. design: money-in-checkout §B9
 */
export async function recordSavedCharge(
  tx: ScopedSql,
  {
    sessionId,
    occasion,
    link,
    at,
  }: { sessionId: string; occasion: LinkOccasion; link: LinkStanding | null; at: string },
): Promise<{ followers: CheckoutFollowers | null; opensPage: boolean }> {
  const row = await lockCheckout(tx, sessionId);
  const isActive = isCheckoutActive(row.checkout_status);
  if (link?.status === 'dead') {
    await noteDeclines(tx, row, link);
    await dropMethod(tx, row, at);
    if (isActive && occasion === 'poll') return { followers: null, opensPage: true };
  } else if (isActive && link?.status === 'paid') await payBySavedMethod(tx, row);
  else if (row.checkout_status === 'initiated') await waitForDecision(tx, row, at);
  return { followers: await recordLink(tx, { sessionId, occasion, link, at }), opensPage: false };
}

/** The payment is made on the page now, under a name of its own at the provider. */
async function dropMethod(tx: ScopedSql, row: CheckoutRow, at: string): Promise<void> {
  const [payment] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set payment_method_id = null, provider_object_id = null, intent_token = $5, version = version + 1, updated_at = $3,
       updated_by = $4
     where environment_id = $1 and id = $2 and payment_method_id is not null returning ${paymentColumns}`,
    [
      tx.scope.environmentId,
      row.checkout_payment_id,
      new Date().toISOString(),
      tx.scope.actor,
      intentTokenOf(row.checkout_payment_id ?? '', 2),
    ],
  );
  if (!payment) return;
  await writeAudit(tx, tx.scope, [paymentAudit(payment, 'saved method declined', at, { checkout_session_id: row.id })]);
}

/** The money comes from a saved method, which later charges of the subscription name too. design: money-in-checkout §B12 */
async function payBySavedMethod(tx: ScopedSql, row: CheckoutRow): Promise<void> {
  const { environmentId } = tx.scope;
  await tx.rows(`update payment set payment_method_type = 'CARD' where environment_id = $1 and id = $2`, [
    environmentId,
    row.checkout_payment_id,
  ]);
  if (row.action !== 'create_subscription') return;
  await tx.rows(
    `update subscription set gateway_payment_method_id = (select payment_method_id from payment where environment_id = $1 and id = $3)
     where environment_id = $1 and id = $2`,
    [environmentId, row.subscription_id, row.checkout_payment_id],
  );
}

async function waitForDecision(tx: ScopedSql, row: CheckoutRow, at: string): Promise<void> {
  const waiting = await changeCheckout(tx, row, { sets: `checkout_status = 'pending'`, at });
  const [payment] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set payment_status = 'PENDING', version = version + 1, updated_at = $3, updated_by = $4
     where environment_id = $1 and id = $2 and payment_status = 'INITIATED' returning ${paymentColumns}`,
    [tx.scope.environmentId, row.checkout_payment_id, new Date().toISOString(), tx.scope.actor],
  );
  await writeEvents(tx, tx.scope, payment ? [paymentEvent('payment.pending', payment, null, at)] : []);
  await writeAudit(tx, tx.scope, [
    checkoutAudit(waiting!, 'charged', at, { payment_method_id: payment?.payment_method_id ?? null }),
    ...(payment ? [paymentAudit(payment, 'pending', at, { checkout_session_id: row.id })] : []),
  ]);
}

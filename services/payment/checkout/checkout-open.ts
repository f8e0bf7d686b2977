import { checkoutExpiry, checkoutMove, isCheckoutActive } from '../../../billing/payment/checkout.ts';
import { earlier } from '../../../billing/time/calendar.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import {
  type CheckoutRow,
  changeCheckout,
  checkoutAudit,
  checkoutColumns,
  checkoutEvent,
  lockCheckout,
} from '../../collection/checkout-row.ts';
import type { ProvidersObject } from '../../collection/payment-connection.ts';
import { type PaymentRow, paymentAudit, paymentColumns, paymentEvent } from '../../collection/payment-row.ts';
import { wireToken } from '../../collection/wire-token.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { cleanUpCheckout } from './checkout-clean-up.ts';
import { keepsMethod, mandateLimitOf } from './checkout-method.ts';

/** A link as its provider is asked for it, the same every time. */
export interface LinkToOpen {
  intentToken: string;
  token: string;
  providerId: string | null;
  chargeProviderId: string | null;
  createdAt: string;
  /** Cards that the payer's browser had the provider keep. */
  methodTokens: readonly string[];
  mode: 'payment' | 'setup';
  amount: string;
  currency: string;
  expiresAt: string;
  payBy: 'CARD' | 'UPI';
  saveMethod: boolean;
  /** Most that the method may be charged at once without its payer; null for no limit. */
  mandateLimit: string | null;
  customer: { token: string | null; name: string; email: string | null; contact: string | null };
  pageUrl: string;
  returnUrl: string;
  description: string;
  metadata: Record<string, string>;
}

/** A link, and the payment or, in setup mode, session whose connection leads to its provider. */
export interface AskedLink {
  object: ProvidersObject;
  link: LinkToOpen;
}

interface RequestRow extends CheckoutRow {
  intent_token: string | null;
  gateway_payment_id: string | null;
  customer_name: string;
  customer_email: string | null;
  customer_contact: string | null;
  seller: string | null;
}

/**
 * The link of a session as its provider is asked to open it, or about it. Null where there is nothing to ask: it is opened already, or
 * nobody has asked for it yet. To close it is asked also where no answer told that it is there.
 */
export async function linkRequestOf(
  tx: ScopedSql,
  sessionId: string,
  purpose: 'open' | 'read' | 'close',
): Promise<AskedLink | null> {
  const columns = checkoutColumns
    .split(',')
    .map((column) => `s.${column.trim()}`)
    .join(', ');
  const [row] = await tx.rows<RequestRow>(
    `select ${columns}, p.intent_token, p.gateway_payment_id, c.name as customer_name, c.email as customer_email, c.contact as customer_contact,
       (select t.name from tenant t where t.id = s.tenant_id) as seller
     from checkout_session s join customer c on c.id = s.customer_id left join payment p on p.id = s.checkout_payment_id
     where s.environment_id = $1 and s.id = $2`,
    [tx.scope.environmentId, sessionId],
    'checkout-link',
  );
  if (!row) return null;
  const isUnopened = row.link_state === 'none' && isCheckoutActive(row.checkout_status);
  if ((purpose === 'open' && !isUnopened) || (purpose === 'read' && isUnopened)) return null;
  const { id, checkout_payment_id: paymentId, payment_provider: provider } = row;
  const object =
    paymentId === null ? { kind: 'checkout_session' as const, id } : { kind: 'payment' as const, id: paymentId };
  return {
    object: { ...object, provider },
    link: linkOf(row, keepsMethod(row) ? await mandateLimitOf(tx, row) : null),
  };
}

/** Name by which the gateway knows the link of a session without a payment. */
export function setupIntentToken(sessionId: string): string {
  return `${sessionId}:1`;
}

function linkOf(row: RequestRow, mandateLimit: string | null): LinkToOpen {
  const page = `${row.base_url}/checkout/${row.page_token ?? ''}`;
  const intentToken = row.intent_token ?? setupIntentToken(row.id);
  return {
    intentToken,
    token: wireToken(intentToken),
    providerId: row.provider_session_id,
    chargeProviderId: row.gateway_payment_id,
    createdAt: instantText(row.created_at),
    methodTokens: row.method_tokens,
    mode: row.checkout_payment_id === null ? 'setup' : 'payment',
    amount: decimalText(row.amount),
    currency: row.currency,
    expiresAt: instantText(row.expires_at),
    payBy: row.provider_config.payment_method === 'UPI' ? 'UPI' : 'CARD',
    saveMethod: keepsMethod(row),
    mandateLimit,
    customer: { token: null, name: row.customer_name, email: row.customer_email, contact: row.customer_contact },
    pageUrl: page,
    returnUrl: `${page}/return`,
    description: row.seller ? `Payment to ${row.seller}` : 'Payment',
    metadata: { environment: row.environment_id, kind: 'checkout_session', id: row.id },
  };
}

/**
 * Records an opened link: the session waits for its payer, until its own end or that of the link, whichever comes first. Said twice it
 * changes nothing. Throws `not_found`. spec: wallets-and-payments §2.17
 */
export async function recordOpened(
  tx: ScopedSql,
  {
    sessionId,
    link,
    at,
  }: { sessionId: string; link: { providerId: string; url: string; expiresAt: string | null }; at: string },
): Promise<void> {
  const row = await lockCheckout(tx, sessionId);
  if (row.link_state !== 'none' || !isCheckoutActive(row.checkout_status)) return;
  const isOurs = link.url.startsWith(`${row.base_url}/checkout/`);
  const move = checkoutMove(row.checkout_status, 'opened');
  // Links of test clocks end at real time, their sessions at the clock's.
  const linkEnd = row.test_clock_id === null ? link.expiresAt : null;
  const openedAt = instantText(row.opened_at);
  const expiresAt = earlier(checkoutExpiry(row.payment_provider, openedAt, linkEnd), instantText(row.expires_at));
  const opened = await changeCheckout(tx, row, {
    sets: `checkout_status = $4, link_state = 'open', provider_session_id = $5, provider_url = $6, provider_expires_at = $7, expires_at = $8,
      page_token = null`,
    values: [move.to, link.providerId, isOurs ? null : link.url, linkEnd, expiresAt],
    at,
  });
  const [payment] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set payment_status = 'PENDING', version = version + 1, updated_at = $3, updated_by = $4
     where environment_id = $1 and id = $2 and payment_status = 'INITIATED' returning ${paymentColumns}`,
    [tx.scope.environmentId, row.checkout_payment_id, new Date().toISOString(), tx.scope.actor],
  );
  await writeEvents(tx, tx.scope, [
    checkoutEvent('checkout.session.initiated', opened!, at, link.url),
    ...(payment ? [paymentEvent('payment.pending', payment, null, at)] : []),
  ]);
  await writeAudit(tx, tx.scope, [
    checkoutAudit(opened!, 'opened', at, { provider_session_id: link.providerId }),
    ...(payment ? [paymentAudit(payment, 'pending', at, { checkout_session_id: row.id })] : []),
  ]);
}

/** Ends a session whose link could not be opened: refused for good, or unreachable while its caller waited. */
export async function recordRefused(
  tx: ScopedSql,
  { sessionId, isDefinite, at }: { sessionId: string; isDefinite: boolean; at: string },
): Promise<void> {
  const row = await lockCheckout(tx, sessionId);
  if (!isCheckoutActive(row.checkout_status)) return;
  // A link whose answer was lost may be there all the same: it is closed by its token.
  await cleanUpCheckout(tx, row, {
    move: checkoutMove(row.checkout_status, 'refused'),
    linkState: isDefinite ? 'dead' : 'open',
    at,
  });
}

/** The provider could not be reached and nobody waits: it is tried again. */
export async function noteUnopened(tx: ScopedSql, { sessionId, at }: { sessionId: string; at: string }): Promise<void> {
  const row = await lockCheckout(tx, sessionId);
  if (!isCheckoutActive(row.checkout_status)) return;
  const changed = await changeCheckout(tx, row, { sets: 'asked_at = $4', values: [at], at });
  await writeAudit(tx, tx.scope, [checkoutAudit(changed!, 'asked', at, { link: 'no answer' })]);
}

import type { CheckoutAction } from '../../../billing/payment/checkout.ts';
import { customerNow } from '../../../db/clock.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { instantOrNull } from '../../collection/payment-row.ts';
import { type InvoicePageSource, readInvoicePage } from '../../invoice/document/invoice-page.ts';
import { setupIntentToken } from './checkout-open.ts';

/** A session as its page shows it: facts only. design: money-in-checkout §B13, §B14 */
export interface CheckoutPage {
  id: string;
  customerName: string;
  timezone: string;
  paymentProvider: string;
  /** Name by which the provider knows the link. */
  intentToken: string;
  action: CheckoutAction;
  checkoutStatus: string;
  failureReason: string | null;
  amount: string;
  currency: string;
  savesMethod: boolean;
  /** Null where the page is ours. */
  providerUrl: string | null;
  /** The provider's own id of what is paid. */
  providerSessionId: string | null;
  /** Null in setup mode. */
  paymentId: string | null;
  successUrl: string | null;
  failureUrl: string | null;
  cancelUrl: string | null;
  openedAt: string;
  expiresAt: string;
  endedAt: string | null;
  /** The customer's present. */
  now: string;
  /** Paid, and not carried out yet. */
  isCompleting: boolean;
  /** Class of the last attempt, where that was declined. */
  declineClass: 'retry' | 'never' | 'authenticate' | null;
  /** A card that was to be saved was declined, in setup mode. */
  isMethodDeclined: boolean;
  /** Money that came late or twice, on its way back. */
  refund: { amount: string; currency: string; status: 'on_its_way' | 'sent' | 'stuck' } | null;
  /** Interval at which what is bought is billed anew. */
  renewal: { billingPeriod: string; count: number } | null;
  /** The final invoice that can still be paid on a new page, where this one has ended unpaid. design: money-in-checkout §A9 */
  payableInvoiceId: string | null;
  /** The frozen invoice; null once the session has ended unpaid, when it is archived. */
  invoice: InvoicePageSource | null;
}

interface PageRow {
  [column: string]: unknown;
  id: string;
  customer_id: string;
  customer_name: string;
  timezone: string;
  payment_provider: string;
  intent_token: string | null;
  action: CheckoutAction;
  checkout_status: string;
  checkout_invoice_id: string | null;
  failure_reason: string | null;
  amount: string;
  currency: string;
  saves_method: boolean;
  provider_url: string | null;
  provider_session_id: string | null;
  payment_id: string | null;
  success_url: string | null;
  failure_url: string | null;
  cancel_url: string | null;
  opened_at: string;
  expires_at: string;
  ended_at: string | null;
  completion_failed_at: string | null;
  decline_class: CheckoutPage['declineClass'];
  method_declined: boolean;
  refund: { amount: string; currency: string; refund_status: string; parked: boolean } | null;
  payable_invoice_id: string | null;
  billing_period: string | null;
  billing_period_count: number | null;
}

const pageText = `
select s.id, s.customer_id, c.name as customer_name, c.timezone, s.payment_provider, p.intent_token, s.action, s.checkout_status,
  s.checkout_invoice_id, s.failure_reason, s.amount, s.currency, coalesce(s.provider_config ->> 'save_method', '') = 'true' as saves_method,
  s.provider_url, s.provider_session_id, p.id as payment_id, s.success_url, s.failure_url, s.cancel_url, s.opened_at, s.expires_at, s.ended_at, s.completion_failed_at,
  s.method_declined,
  (select coalesce(a.metadata ->> 'decline_class', 'retry') from payment_attempt a
   where a.environment_id = $1 and a.payment_id = p.id and a.payment_status = 'FAILED' order by a.attempt_number desc limit 1) as decline_class,
  (select jsonb_build_object('amount', r.amount::text, 'currency', r.currency, 'refund_status', r.refund_status, 'parked', exists(
     select from parked_object o where o.environment_id = $1 and o.object_type = 'refund' and o.object_id = r.id))
   from refund r join payment back on back.id = r.payment_id
   where back.environment_id = $1 and back.checkout_session_id = s.id and back.unapplied order by r.created_at desc limit 1) as refund,
  case when s.checkout_status in ('failed', 'expired') then (select i.id from invoice i where i.environment_id = $1 and i.id = s.checkout_invoice_id
     and i.checkout_session_id is null and i.status = 'published' and i.invoice_status = 'FINALIZED' and i.amount_remaining > 0)
  end as payable_invoice_id, u.billing_period, u.billing_period_count
from checkout_session s join customer c on c.id = s.customer_id left join payment p on p.id = s.checkout_payment_id
left join subscription u on u.id = s.subscription_id and s.action = 'create_subscription'
where s.environment_id = $1 and s.id = $2`;

/** The page of a session; null for none of this id. */
export async function readCheckoutPage(tx: Transaction, sessionId: string): Promise<CheckoutPage | null> {
  const [row] = await tx.rows<PageRow>(pageText, [tx.scope.environmentId, sessionId], 'checkout-page');
  if (!row) return null;
  const endedUnpaid = row.ended_at !== null && row.checkout_status !== 'completed';
  const invoiceId = endedUnpaid ? null : row.checkout_invoice_id;
  return {
    id: row.id,
    customerName: row.customer_name,
    timezone: row.timezone,
    paymentProvider: row.payment_provider,
    intentToken: row.intent_token ?? setupIntentToken(row.id),
    action: row.action,
    checkoutStatus: row.checkout_status,
    failureReason: row.failure_reason,
    amount: decimalText(row.amount),
    currency: row.currency,
    savesMethod: row.saves_method,
    providerUrl: row.provider_url,
    providerSessionId: row.provider_session_id,
    paymentId: row.payment_id,
    successUrl: row.success_url,
    failureUrl: row.failure_url,
    cancelUrl: row.cancel_url,
    openedAt: instantText(row.opened_at),
    expiresAt: instantText(row.expires_at),
    endedAt: instantOrNull(row.ended_at),
    now: await customerNow(tx, row.customer_id),
    isCompleting: row.completion_failed_at !== null,
    declineClass: row.decline_class,
    isMethodDeclined: row.method_declined,
    refund: row.refund && viewRefund(row.refund),
    renewal:
      row.billing_period === null
        ? null
        : { billingPeriod: row.billing_period, count: Number(row.billing_period_count ?? 1) },
    payableInvoiceId: row.payable_invoice_id,
    invoice: invoiceId === null ? null : await readInvoicePage(tx, invoiceId),
  };
}

function viewRefund({
  amount,
  currency,
  refund_status: status,
  parked,
}: NonNullable<PageRow['refund']>): CheckoutPage['refund'] {
  const isSent = status === 'SUCCEEDED';
  return { amount: decimalText(amount), currency, status: isSent ? 'sent' : parked ? 'stuck' : 'on_its_way' };
}

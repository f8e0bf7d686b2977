import { decimalText, instantText } from '../../columns.ts';
import type { ScopedSql } from '../../transaction.ts';
import { instantOrNull } from '../payment/payment-row.ts';

/** A session as its page shows it: facts only, and after its end none about persons. design: money-in-checkout §B13, §B14 */
export interface CheckoutPage {
  id: string;
  customerId: string;
  testClockId: string | null;
  paymentProvider: string;
  /** What the provider knows the link by. */
  intentToken: string;
  action: string;
  checkoutStatus: string;
  failureReason: string | null;
  seller: string;
  amount: string;
  currency: string;
  lines: { name: string; quantity: string; amount: string }[];
  providerUrl: string | null;
  successUrl: string | null;
  failureUrl: string | null;
  cancelUrl: string | null;
  expiresAt: string;
  endedAt: string | null;
  /** Declined attempts so far. */
  declines: number;
}

interface PageRow {
  [column: string]: unknown;
  lines: { name: string; quantity: string; amount: string }[] | null;
}

/** The page of a session; null for none of this id. */
export async function readCheckoutPage(tx: ScopedSql, sessionId: string): Promise<CheckoutPage | null> {
  const [row] = await tx.rows<PageRow>(
    `select s.id, s.customer_id, s.test_clock_id, s.payment_provider, p.intent_token, s.action, s.checkout_status, s.failure_reason, t.name as seller,
       s.amount, s.currency, s.provider_url, s.success_url, s.failure_url, s.cancel_url, s.expires_at, s.ended_at,
       (select jsonb_agg(jsonb_build_object('name', l.display_name, 'quantity', l.quantity::text, 'amount', l.amount::text) order by l.position)
        from invoice_line_item l where l.environment_id = $1 and l.invoice_id = s.checkout_invoice_id) as lines,
       (select count(*)::int from payment_attempt a where a.payment_id = p.id and a.payment_status = 'FAILED') as declines
     from checkout_session s join tenant t on t.id = s.tenant_id left join payment p on p.id = s.checkout_payment_id
     where s.environment_id = $1 and s.id = $2`,
    [tx.scope.environmentId, sessionId],
    'checkout-page',
  );
  if (!row) return null;
  const text = (name: string) => String(row[name]);
  const optional = (name: string) => (row[name] === null || row[name] === undefined ? null : String(row[name]));
  return {
    id: text('id'),
    customerId: text('customer_id'),
    testClockId: optional('test_clock_id'),
    paymentProvider: text('payment_provider'),
    intentToken: text('intent_token'),
    action: text('action'),
    checkoutStatus: text('checkout_status'),
    failureReason: optional('failure_reason'),
    seller: text('seller'),
    amount: decimalText(text('amount')),
    currency: text('currency'),
    lines: (row.lines ?? []).map((line) => ({
      ...line,
      quantity: decimalText(line.quantity),
      amount: decimalText(line.amount),
    })),
    providerUrl: optional('provider_url'),
    successUrl: optional('success_url'),
    failureUrl: optional('failure_url'),
    cancelUrl: optional('cancel_url'),
    expiresAt: instantText(text('expires_at')),
    endedAt: instantOrNull(optional('ended_at')),
    declines: Number(row.declines),
  };
}

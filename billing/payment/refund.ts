import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';
import { type Decimal, decimal, decimalString, greatest, least, sum, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { compareText } from '../text-order.ts';
import { unansweredPaymentAgenda } from './payment.ts';

export type RefundStatus = 'PENDING' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
export type RefundTarget = 'PREPAID_WALLET' | 'BACK_TO_SOURCE';

/** A payment money may go back to; decimals as strings. */
export interface RefundablePayment {
  id: string;
  amount: string;
  /** Its refunds that are PENDING, PROCESSING or SUCCEEDED. */
  refundedAmount: string;
  paymentStatus: string;
  succeededAt: string;
  /** Whether its gateway can give money back. */
  refundable: boolean;
}

export interface PlannedRefund {
  destination: 'GATEWAY' | 'WALLET';
  /** The payment it is taken from; null when it is attributed to none. */
  paymentId: string | null;
  amount: string;
}

const captured = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'];

/**
 * How an amount is given back. PREPAID_WALLET: one row to the wallet. BACK_TO_SOURCE: payments whose gateway can refund, newest
 * first, each up to what is left of it; the rest to the wallet, attributed to the payments that cannot be refunded, newest first,
 * and then to none. Nothing is refused for lack of room.
 * spec: subscriptions-and-invoicing §2.20; wallets-and-payments §2.21; README decision 7
 */
export function planRefunds(
  amount: string,
  target: RefundTarget,
  payments: readonly RefundablePayment[],
): PlannedRefund[] {
  let left = decimal(amount);
  const plan: PlannedRefund[] = [];
  const take = (destination: PlannedRefund['destination'], paymentId: string | null, room: Decimal) => {
    const part = least(room, left);
    if (!part.greaterThan(zero)) return;
    plan.push({ destination, paymentId, amount: decimalString(part) });
    left = left.minus(part);
  };
  if (target === 'BACK_TO_SOURCE') {
    const newestFirst = payments.filter((payment) => captured.includes(payment.paymentStatus)).sort(newer);
    const byGateway = newestFirst.filter((payment) => payment.refundable);
    const byWallet = newestFirst.filter((payment) => !payment.refundable);
    for (const payment of byGateway) take('GATEWAY', payment.id, roomOf(payment));
    for (const payment of byWallet) take('WALLET', payment.id, roomOf(payment));
  }
  take('WALLET', null, left);
  return plan;
}

function roomOf(payment: RefundablePayment): Decimal {
  return greatest(decimal(payment.amount).minus(payment.refundedAmount), zero);
}

/** Newest succeeded_at first, then id descending. */
function newer(one: RefundablePayment, other: RefundablePayment): number {
  return Date.parse(other.succeededAt) - Date.parse(one.succeededAt) || compareText(other.id, one.id);
}

/**
 * A payment from its refunds: succeeded ones move it, open ones reserve room, failed and cancelled ones free it.
 * `paymentStatus` is how it stands without any. spec: wallets-and-payments §2.21
 */
export function rollUpRefunds(
  amount: string,
  refunds: readonly { amount: string; refundStatus: string }[],
  paymentStatus = 'SUCCEEDED',
): { refunded: string; paymentStatus: string; stillRefundable: string } {
  const of = (...statuses: string[]) =>
    sum(refunds.filter((refund) => statuses.includes(refund.refundStatus)).map((refund) => decimal(refund.amount)));
  const refunded = of('SUCCEEDED');
  const whole = decimal(amount);
  const status = refunded.greaterThanOrEqualTo(whole) ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
  return {
    refunded: decimalString(refunded),
    paymentStatus: refunded.greaterThan(zero) ? status : paymentStatus,
    stillRefundable: decimalString(greatest(whole.minus(of('SUCCEEDED', 'PENDING', 'PROCESSING')), zero)),
  };
}

/** How a credit note's refunds stand together: what still needs somebody first. Null without any. Replaced rows do not count. */
export function combinedRefundStatus(statuses: readonly RefundStatus[]): RefundStatus | null {
  const order: RefundStatus[] = ['FAILED', 'PROCESSING', 'PENDING', 'SUCCEEDED', 'CANCELLED'];
  return order.find((status) => statuses.includes(status)) ?? null;
}

const reasons: Record<string, string> = {
  DUPLICATE: 'DUPLICATE',
  FRAUDULENT: 'FRAUDULENT',
  ORDER_CHANGE: 'ORDER_CHANGE',
  SERVICE_ISSUE: 'SERVICE_ISSUE',
  SUBSCRIPTION_CANCELLATION: 'REQUESTED_BY_CUSTOMER',
};

/** The refund_reason of a credit note's reason; what has no namesake is OTHER. spec: wallets-and-payments §1.6 */
export function refundReasonOf(creditNoteReason: string): string {
  return reasons[creditNoteReason] ?? 'OTHER';
}

/** Refuses (invalid_operation) a retry of a refund that is not FAILED or was replaced by another. spec: §3 row 50 */
export function assertRetryable(refund: { refundStatus: string; replacedBy: string | null }): void {
  if (refund.replacedBy !== null) {
    throw refuse('invalid_operation', `the refund was replaced by ${refund.replacedBy}, which paid the money out`, {
      replaced_by: refund.replacedBy,
    });
  }
  if (refund.refundStatus !== 'FAILED') {
    throw refuse('invalid_operation', `a refund that is ${refund.refundStatus} is not retried; only a FAILED one is`, {
      refund_status: refund.refundStatus,
    });
  }
}

/** What the gateway knows a refund by: its id first, `<id>:<n>` on the nth retry. spec: README decision 17 */
export function refundTokenOf(refundId: string, attempt: number): string {
  return attempt === 0 ? refundId : `${refundId}:${attempt}`;
}

/** A failed refund is sent this often by itself; then the wallet takes its place. spec: subscriptions-and-invoicing §2.20 */
export const mostRefundAttempts = 3;
const retryAfterMs = 15 * 60_000;

/**
 * What time brings to a gateway refund at `at`: it is sent, asked about with growing pauses since it was sent, and tried again
 * a quarter of an hour after a failure. `expectedBy` is when a gateway that takes days said it decides. spec: subscriptions-and-invoicing §2.20; wallets-and-payments §2.25
 */
export function refundAgenda(
  refund: { refundStatus: RefundStatus; replacedBy: string | null; sentAt: string | null },
  at: string,
  expectedBy: string | null = null,
): AgendaItem[] {
  if (refund.refundStatus === 'PENDING') return [{ at, kind: 'sendRefund', ref: '' }];
  if (refund.refundStatus === 'PROCESSING') {
    return sortAgenda(unansweredPaymentAgenda(refund.sentAt ?? at, at, expectedBy), lifecycleKinds.refund.agenda);
  }
  if (refund.refundStatus !== 'FAILED' || refund.replacedBy !== null) return [];
  return [{ at: new Date(Date.parse(at) + retryAfterMs).toISOString(), kind: 'retryRefund', ref: '' }];
}

/** What is known of a refund after its gateway was asked; ids and words only, so that it may travel through histories. */
export interface RefundOutcome {
  status: 'succeeded' | 'failed' | 'processing' | 'unknown';
  gatewayRefundId: string | null;
  reason: string | null;
  /** Until when a gateway that takes days is expected to decide. */
  expectedBy?: string | null;
}

/** A refund that was made at the gateway itself, without us; the amount is a plain decimal of the currency. */
export interface RefundElsewhere {
  status: 'succeeded' | 'failed' | 'processing';
  gatewayRefundId: string;
  amount: string;
  currency: string;
}

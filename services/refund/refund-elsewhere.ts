import { type Decimal, decimal, decimalString, greatest, least, sum, zero } from '../../billing/money/money.ts';
import type { DisputeAtGateway } from '../../billing/payment/dispute.ts';
import { isPaymentCaptured } from '../../billing/payment/payment.ts';
import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import { newId } from '../../db/id.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import {
  lockPaymentWithInvoice,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  type PaymentWithInvoice,
} from '../collection/payment-row.ts';
import { wireToken } from '../collection/wire-token.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { takeBackPurchase } from '../topup/purchase-taken-back.ts';
import { type DisputedMoney, recordDisputes, settleDispute } from './dispute.ts';
import { countRefund } from './invoice-refund.ts';
import { type GivenBack, unaccountedRefund } from './refund-count.ts';
import { type RefundRow, refundAudit, refundColumns, refundEvent } from './refund-row.ts';
import { moveRefundedPayment } from './refund-settle.ts';

/** A payment whose money went back, and who waits for it. */
export interface RefundedPayment {
  paymentId: string;
  invoiceId: string | null;
  subscriptionId: string | null;
}

/** A captured charge by the names that its gateway knows it by. */
export interface CapturedCharge {
  gateway: string;
  intentToken: string;
  token: string;
  providerId: string | null;
  chargeProviderId: string;
  createdAt: string;
}

/** The charge that took a payment's money, as its gateway is asked about it; null where it took none or has no name there. */
export async function capturedCharge(tx: PaymentTransaction, paymentId: string): Promise<CapturedCharge | null> {
  const [row] = await tx.rows<Pick<PaymentRow, 'intent_token' | 'payment_status'> & Named>(
    `select payment_gateway, payment_status, intent_token, provider_object_id, gateway_payment_id, created_at from payment
     where environment_id = $1 and id = $2 and payment_gateway is not null and gateway_payment_id is not null`,
    [tx.scope.environmentId, paymentId],
  );
  if (!row || !isPaymentCaptured(row.payment_status)) return null;
  return {
    gateway: row.payment_gateway,
    intentToken: row.intent_token,
    token: wireToken(row.intent_token),
    providerId: row.provider_object_id,
    chargeProviderId: row.gateway_payment_id,
    createdAt: instantText(row.created_at),
  };
}

interface Named {
  payment_gateway: string;
  provider_object_id: string | null;
  gateway_payment_id: string;
  created_at: string;
}

/** Money of a charge that left at its gateway without us. */
export interface MoneyElsewhere {
  refunds: readonly RefundElsewhere[];
  disputes?: readonly DisputeAtGateway[];
  /** Sum of all refunds, from a gateway that shows no single ones. */
  givenBack?: GivenBack | null;
}

/**
 * Records disputes of a payment, and refunds that somebody made at the gateway itself or that a lost dispute took: each becomes a row that
 * is SUCCEEDED, counts on its invoice up to what is left there, and takes back the credits that its money bought, below zero where they are
 * spent. One that is recorded or not yet paid out changes nothing; where only a sum is told, what no refund accounts for
 * is one. Refunds of ours that wait to be sent and have no room any more find out when they are sent. Throws `not_found`, and `RefundsChanged`
 * where a sum is out of date.
 * design: money-in §5, money-in-wallets finding 5
 */
export async function recordRefundsElsewhere(
  tx: PaymentTransaction,
  { paymentId, refunds, disputes = [], givenBack = null, at }: MoneyElsewhere & { paymentId: string; at: string },
): Promise<RefundedPayment> {
  const paid = await lockPaymentWithInvoice(tx, paymentId);
  const known = await tx.rows<KnownRefund>(
    `select amount, gateway_refund_id, refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED') as is_live
     from refund where environment_id = $1 and payment_id = $2`,
    [tx.scope.environmentId, paymentId],
  );
  const isKnown = ({ gatewayRefundId }: RefundElsewhere) =>
    known.some((row) => row.gateway_refund_id === gatewayRefundId);
  const taken: (RefundElsewhere & Partial<DisputedMoney>)[] = await recordDisputes(tx, paid, disputes, at);
  const counted = givenBack === null ? [] : await unaccountedRefund(tx, paid.payment, givenBack);
  const news = [...refunds, ...counted, ...taken].filter((refund) => refund.status === 'succeeded' && !isKnown(refund));
  const room = new Room(paid, known);
  for (const refund of news) await recordOne(tx, paid, refund, { room, at });
  if (news.length > 0) await moveRefundedPayment(tx, paymentId, at);
  const { invoice } = paid;
  return { paymentId, invoiceId: invoice?.id ?? null, subscriptionId: invoice?.subscription_id ?? null };
}

interface KnownRefund {
  amount: string;
  gateway_refund_id: string | null;
  is_live: boolean;
  [column: string]: unknown;
}

/** Money that no refund of ours accounts for yet: of the invoice, else of the payment; of one that paid nothing there is none. */
class Room {
  readonly #left: Decimal;
  #counted = zero;

  constructor({ invoice, payment }: PaymentWithInvoice, known: readonly KnownRefund[]) {
    const promised = sum(known.filter(({ is_live }) => is_live).map(({ amount }) => decimal(amount)));
    const left = invoice
      ? decimal(invoice.amount_paid).minus(invoice.refunded_amount)
      : decimal(payment.amount).minus(promised);
    this.#left = payment.unapplied ? zero : greatest(left, zero);
  }

  get counted(): string {
    return decimalString(this.#counted);
  }

  /** Counts an amount up to what is left, and answers how much that is. */
  count(amount: string): Decimal {
    const counted = least(decimal(amount), this.#left.minus(this.#counted));
    this.#counted = this.#counted.plus(counted);
    return counted;
  }
}

async function recordOne(
  tx: PaymentTransaction,
  { invoice, payment }: PaymentWithInvoice,
  refund: RefundElsewhere & Partial<DisputedMoney>,
  { room, at }: { room: Room; at: string },
): Promise<void> {
  const before = room.counted;
  const counted = room.count(refund.amount);
  const amount = decimalString(counted);
  const row = await insertRefund(tx, { invoice, payment }, refund, { at, counted: amount });
  if (refund.disputeId) await settleDispute(tx, refund.disputeId, row.id);
  await writeEvents(tx, tx.scope, [refundEvent('refund.created', row, at), refundEvent('refund.succeeded', row, at)]);
  await writeAudit(tx, tx.scope, [
    refundAudit(row, 'created', at, {
      payment_id: payment.id,
      invoice_id: row.invoice_id,
      made_at: row.metadata.made_at,
    }),
  ]);
  if (!counted.greaterThan(zero)) return;
  if (invoice) {
    const refunded = decimalString(decimal(decimalText(invoice.refunded_amount)).plus(before));
    await countRefund(tx, countedOf(invoice, refunded), { amount, at, detail: { refund_id: row.id } });
    invoice.version += 1;
  }
  const purchaseId = invoice ? invoice.purchase_id : payment.purchase_id;
  if (purchaseId === null) return;
  await takeBackPurchase(tx, tx.scope, {
    purchaseId,
    amount,
    paid: decimalText(invoice ? invoice.amount_paid : payment.amount),
    key: row.id,
    description: refund.disputeId
      ? `Purchased credits whose payment was charged back, dispute ${refund.disputeId}`
      : `Refund ${row.id} of purchased credits, made at ${payment.payment_gateway}`,
    refusesBeyondLot: false,
  });
}

function countedOf(invoice: PayableInvoiceRow, refundedAmount: string) {
  return {
    id: invoice.id,
    amountDue: decimalText(invoice.amount_due),
    amountPaid: decimalText(invoice.amount_paid),
    refundedAmount,
    version: invoice.version,
  };
}

async function insertRefund(
  tx: PaymentTransaction,
  { invoice, payment }: PaymentWithInvoice,
  refund: RefundElsewhere & Partial<DisputedMoney>,
  { at, counted }: { at: string; counted: string },
): Promise<RefundRow> {
  const ofDispute = refund.disputeId ? { dispute_id: refund.disputeId } : {};
  const metadata = { made_at: payment.payment_gateway ?? '', counted_amount: counted, ...ofDispute };
  const [row] = await tx.rows<RefundRow & Record<string, unknown>>(insertText, [
    newId('refund'),
    payment.tenant_id,
    payment.environment_id,
    new Date().toISOString(),
    tx.scope.actor,
    payment.id,
    payment.unapplied ? null : (invoice?.id ?? null),
    payment.customer_id,
    payment.payment_gateway,
    refund.gatewayRefundId,
    refund.amount,
    payment.currency,
    at,
    payment.test_clock_id,
    JSON.stringify(metadata),
  ]);
  if (!row) throw new Error(`the refund ${refund.gatewayRefundId} of payment ${payment.id} was not written`);
  return row;
}

const insertText = `
insert into refund (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id, invoice_id, customer_id,
  payment_gateway, gateway_refund_id, amount, settled_amount, currency, refund_status, refund_reason, refund_target, refund_destination,
  idempotency_key, initiated_at, succeeded_at, test_clock_id, metadata)
values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, 'SUCCEEDED', 'OTHER', 'BACK_TO_SOURCE', 'GATEWAY',
  $1, $13, $13, $14, $15::jsonb)
returning ${refundColumns}`;

import { type PlannedRefund, planRefunds, type RefundTarget } from '../../billing/payment/refund.ts';
import { newId } from '../../db/id.ts';
import { insertText, recordColumnTypes, writeRows } from '../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { PaymentTransaction } from '../collection/payment-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { type RefundRow, refundAudit, refundColumns, refundEvent, writeRefundAgenda } from './refund-row.ts';
import { creditRefundToWallet } from './refund-settle.ts';

/**
 * Money that is to be given back: of an invoice, which is locked and counts it already, or of one payment without an invoice, which is
 * locked.
 */
export interface RefundOrder {
  of: { invoiceId: string } | { paymentId: string };
  customerId: string;
  testClockId: string | null;
  creditNoteId: string | null;
  amount: string;
  currency: string;
  reason: string;
  target: RefundTarget;
  /** Names of the gateways that can give money back. */
  refundableGateways: readonly string[];
  metadata?: Readonly<Record<string, string>>;
  at: string;
}

const insertRefunds = insertText('refund', {
  ...recordColumnTypes,
  paymentId: 'text',
  invoiceId: 'text',
  creditNoteId: 'text',
  customerId: 'text',
  paymentGateway: 'text',
  amount: 'numeric',
  currency: 'text',
  refundStatus: 'text',
  refundReason: 'text',
  refundTarget: 'text',
  refundDestination: 'text',
  idempotencyKey: 'text',
  testClockId: 'text',
  metadata: 'jsonb',
});

interface PaymentRoom {
  id: string;
  amount: string;
  payment_gateway: string | null;
  payment_status: string;
  succeeded_at: string;
  refunded: string;
  [column: string]: unknown;
}

const paymentsText = `
select p.id, p.amount, p.payment_gateway, p.payment_status, p.succeeded_at, coalesce((
  select sum(r.amount) from refund r where r.environment_id = p.environment_id and r.payment_id = p.id
    and r.refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED')), 0) as refunded
from payment p where p.environment_id = $1 and (p.id = $3 or (p.destination_type = 'INVOICE' and p.destination_id = $2 and not p.unapplied))
  and p.succeeded_at is not null
order by p.id for update of p`;

/**
 * Stores the refunds of an order before any money moves: those to the wallet are credited in the same transaction, those to
 * gateways wait for their workflows, whose ids it returns. spec: subscriptions-and-invoicing §2.20; wallets-and-payments §2.21
 */
export async function openRefunds(tx: PaymentTransaction, order: RefundOrder): Promise<string[]> {
  const { invoiceId, paymentId } = { invoiceId: null, paymentId: null, ...order.of };
  const payments = await tx.rows<PaymentRoom>(paymentsText, [tx.scope.environmentId, invoiceId, paymentId]);
  const gateways = new Map(payments.map((payment) => [payment.id, payment.payment_gateway]));
  const plan = planRefunds(
    order.amount,
    order.target,
    payments.map((payment) => ({
      id: payment.id,
      amount: decimalText(payment.amount),
      refundedAmount: decimalText(payment.refunded),
      paymentStatus: payment.payment_status,
      succeededAt: instantText(payment.succeeded_at),
      refundable: order.refundableGateways.includes(payment.payment_gateway ?? ''),
    })),
  );
  const rows = await insertPlanned(tx, order, plan, gateways);
  const toGateways: string[] = [];
  for (const row of rows) {
    if (row.refund_destination === 'GATEWAY') {
      await writeRefundAgenda(tx, row, order.at);
      toGateways.push(row.id);
    } else {
      await creditRefundToWallet(tx, row, { at: order.at, isWholeNote: order.target === 'PREPAID_WALLET' });
    }
  }
  return toGateways;
}

async function insertPlanned(
  tx: PaymentTransaction,
  order: RefundOrder,
  plan: readonly PlannedRefund[],
  gateways: ReadonlyMap<string, string | null>,
): Promise<RefundRow[]> {
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = tx.scope;
  const ids = plan.map(() => newId('refund'));
  await writeRows(
    tx,
    insertRefunds,
    plan.map((part, index) => ({
      id: ids[index],
      tenantId,
      environmentId,
      createdAt: now,
      createdBy: actor,
      updatedAt: now,
      updatedBy: actor,
      paymentId: part.paymentId,
      invoiceId: 'invoiceId' in order.of ? order.of.invoiceId : null,
      creditNoteId: order.creditNoteId,
      customerId: order.customerId,
      paymentGateway: part.destination === 'GATEWAY' ? (gateways.get(part.paymentId ?? '') ?? null) : null,
      amount: part.amount,
      currency: order.currency,
      refundStatus: 'PENDING',
      refundReason: order.reason,
      refundTarget: part.destination === 'GATEWAY' ? 'BACK_TO_SOURCE' : 'PREPAID_WALLET',
      refundDestination: part.destination,
      idempotencyKey: ids[index],
      testClockId: order.testClockId,
      metadata: order.metadata ?? {},
    })),
  );
  const rows = await tx.rows<RefundRow & Record<string, unknown>>(
    `select ${refundColumns} from refund where environment_id = $1 and id = any($2) order by array_position($2, id)`,
    [environmentId, ids],
  );
  await writeEvents(
    tx,
    tx.scope,
    rows.map((row) => refundEvent('refund.created', row, order.at)),
  );
  await writeAudit(
    tx,
    tx.scope,
    rows.map((row) =>
      refundAudit(row, 'created', order.at, { invoice_id: row.invoice_id, payment_id: row.payment_id }),
    ),
  );
  return rows;
}

/** Refunds of payments that wait to be sent to their gateways, by payment. */
export async function unsentRefunds(
  tx: PaymentTransaction,
  paymentIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (paymentIds.length === 0) return new Map();
  const rows = await tx.rows<{ payment_id: string; ids: string[] }>(
    `select payment_id, array_agg(id order by id) as ids from refund
     where environment_id = $1 and payment_id = any($2) and refund_destination = 'GATEWAY' and refund_status = 'PENDING' group by payment_id`,
    [tx.scope.environmentId, paymentIds],
  );
  return new Map(rows.map((row) => [row.payment_id, row.ids]));
}

import { type DisputeAtGateway, type DisputeStatus, isDisputeMove } from '../../billing/payment/dispute.ts';
import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import { refuse } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { type PaymentTransaction, type PaymentWithInvoice, paymentEvent } from '../collection/payment-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { pauseByReturn } from '../topup/auto-topup-end.ts';
import { lockPurchases } from '../topup/wallet-purchase.ts';

/** Money that a lost dispute took, as refunds made at the gateway are recorded. */
export interface DisputedMoney extends RefundElsewhere {
  disputeId: string;
}

interface DisputeRow {
  id: string;
  gateway_dispute_id: string;
  dispute_status: DisputeStatus;
  refund_id: string | null;
  [column: string]: unknown;
}

/**
 * Records what a gateway says of the disputes of a locked payment, any number of times with the same effect. A new one pauses the automatic
 * top-ups of the wallet that the payment filled; each step is told by `payment.updated`. Answers the money of those that are lost and of
 * which no refund is recorded. spec: README decision 39; design: money-in §5
 */
export async function recordDisputes(
  tx: PaymentTransaction,
  paid: PaymentWithInvoice,
  disputes: readonly DisputeAtGateway[],
  at: string,
): Promise<DisputedMoney[]> {
  if (disputes.length === 0) return [];
  const rows = await tx.rows<DisputeRow>(
    'select id, gateway_dispute_id, dispute_status, refund_id from dispute where environment_id = $1 and payment_id = $2',
    [tx.scope.environmentId, paid.payment.id],
  );
  const known = new Map(rows.map((row) => [row.gateway_dispute_id, row]));
  const taken: DisputedMoney[] = [];
  for (const dispute of disputes) {
    const before = known.get(dispute.gatewayDisputeId) ?? null;
    const row = before ?? (await open(tx, paid, dispute, at));
    const status = isDisputeMove(row.dispute_status, dispute.status) ? dispute.status : row.dispute_status;
    if (status !== row.dispute_status) await decide(tx, row, status, at);
    if (before === null || status !== row.dispute_status) await tell(tx, paid, { id: row.id, status }, at);
    const { gatewayDisputeId: gatewayRefundId, amount, currency } = dispute;
    if (status === 'lost' && row.refund_id === null) {
      taken.push({ disputeId: row.id, status: 'succeeded', gatewayRefundId, amount, currency });
    }
  }
  return taken;
}

async function open(
  tx: PaymentTransaction,
  { payment, invoice }: PaymentWithInvoice,
  dispute: DisputeAtGateway,
  at: string,
): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(insertText, [
    newId('dispute'),
    payment.tenant_id,
    payment.environment_id,
    new Date().toISOString(),
    tx.scope.actor,
    payment.id,
    payment.payment_gateway,
    dispute.gatewayDisputeId,
    dispute.amount,
    dispute.currency,
    dispute.reason,
    dispute.openedAt,
    dispute.evidenceDueAt,
  ]);
  if (!row) throw new Error(`dispute ${dispute.gatewayDisputeId} of payment ${payment.id} was not written`);
  const purchaseId = invoice ? invoice.purchase_id : payment.purchase_id;
  if (purchaseId !== null) {
    // The wallet before its top-ups, as everywhere. spec: wallets-and-payments §0 Locks
    const { rows } = await lockPurchases(tx, tx.scope, [purchaseId]);
    const walletId = rows[0]?.wallet_id;
    if (walletId) await pauseByReturn(tx, tx.scope, { walletId, key: row.id, at, by: 'dispute' });
  }
  return row;
}

const insertText = `
insert into dispute (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id, payment_gateway,
  gateway_dispute_id, amount, currency, dispute_status, reason, opened_at, evidence_due_at)
values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, 'open', $11, $12, $13)
returning id, gateway_dispute_id, dispute_status, refund_id`;

async function decide(tx: PaymentTransaction, { id }: DisputeRow, status: DisputeStatus, at: string): Promise<void> {
  await tx.rows(
    `update dispute set dispute_status = $2, closed_at = $3, updated_at = $4, updated_by = $5 where id = $1`,
    [id, status, at, new Date().toISOString(), tx.scope.actor],
  );
}

async function tell(
  tx: PaymentTransaction,
  { payment, invoice }: PaymentWithInvoice,
  { id, status }: { id: string; status: DisputeStatus },
  at: string,
): Promise<void> {
  await writeEvents(tx, tx.scope, [paymentEvent('payment.updated', payment, invoice?.invoice_number ?? null, at)]);
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'payment',
      objectId: payment.id,
      action: status === 'open' ? 'disputed' : `dispute ${status}`,
      occurredAt: at,
      detail: { dispute_id: id },
    },
  ]);
}

/** Names the refund row of the money that a lost dispute took. */
export async function settleDispute(tx: PaymentTransaction, disputeId: string, refundId: string): Promise<void> {
  await tx.rows('update dispute set refund_id = $2, updated_at = $3, updated_by = $4 where id = $1', [
    disputeId,
    refundId,
    new Date().toISOString(),
    tx.scope.actor,
  ]);
}

const openText = `
select d.id, d.payment_id from dispute d join payment p on p.id = d.payment_id
where d.environment_id = $1 and d.dispute_status = 'open'
  and (p.id = $3 or (p.destination_type = 'INVOICE' and p.destination_id = $2)) order by d.id limit 1`;

/**
 * Refuses (invalid_operation) to give money back while a payment of it is disputed: its bank may take it a second time. The invoice or
 * payment is locked. design: money-in §5
 */
export async function refuseDisputed(
  tx: ScopedSql,
  of: { invoiceId?: string; paymentId?: string | null },
): Promise<void> {
  const values = [tx.scope.environmentId, of.invoiceId ?? null, of.paymentId ?? null];
  const [row] = await tx.rows<{ id: string; payment_id: string }>(openText, values);
  if (!row) return;
  throw refuse(
    'invalid_operation',
    `payment ${row.payment_id} is disputed (${row.id}): its bank may take the money back; give it back once the dispute is won`,
    { context: { dispute_id: row.id, payment_id: row.payment_id } },
  );
}

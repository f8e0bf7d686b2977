import type { RefundStatus, RefundTarget } from '../../billing/payment/refund.ts';
import { refundAgenda } from '../../billing/payment/refund.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import { instantOrNull, type PaymentTransaction } from '../collection/payment-row.ts';
import { replaceAgendas } from '../lifecycle/agenda.ts';
import type { AuditRecord } from '../platform/audit.ts';
import type { RefundEvent } from '../platform/event-catalogue/payment-events.ts';

/** The columns of a refund as named SQL reads them; timestamps and numerics are PostgreSQL text. */
export interface RefundRow {
  id: string;
  tenant_id: string;
  environment_id: string;
  payment_id: string | null;
  /** Null for money of a payment that paid no invoice. */
  invoice_id: string | null;
  credit_note_id: string | null;
  customer_id: string;
  payment_gateway: string | null;
  gateway_refund_id: string | null;
  amount: string;
  settled_amount: string | null;
  currency: string;
  refund_status: RefundStatus;
  refund_reason: string;
  refund_target: RefundTarget;
  refund_destination: string;
  attempt: number;
  failure_reason: string | null;
  initiated_at: string | null;
  sent_at: string | null;
  succeeded_at: string | null;
  failed_at: string | null;
  cancelled_at: string | null;
  metadata: Record<string, string>;
  test_clock_id: string | null;
  version: number;
}

export const refundColumns = `id, tenant_id, environment_id, payment_id, invoice_id, credit_note_id, customer_id, payment_gateway,
  gateway_refund_id, amount, settled_amount, currency, refund_status, refund_reason, refund_target, refund_destination, attempt,
  failure_reason, initiated_at, sent_at, succeeded_at, failed_at, cancelled_at, metadata, test_clock_id, version`;

/**
 * Locks a refund behind its invoice and its payment, which its outcome changes. Throws `not_found`.
 * spec: wallets-and-payments §0 Locks
 */
export async function lockRefund(tx: PaymentTransaction, refundId: string): Promise<RefundRow> {
  const values = [tx.scope.environmentId, refundId];
  const one = 'from refund where environment_id = $1 and id = $2';
  await tx.rows(
    `select 1 from invoice where environment_id = $1 and id = (select invoice_id ${one}) for update`,
    values,
  );
  await tx.rows(
    `select 1 from payment where environment_id = $1 and id = (select payment_id ${one}) for update`,
    values,
  );
  const [row] = await tx.rows<RefundRow & Record<string, unknown>>(`select ${refundColumns} ${one} for update`, values);
  if (!row) throw missing('refund', refundId);
  return row;
}

/** What another refund took the place of this one. */
export function replacedBy(row: Pick<RefundRow, 'metadata'>): string | null {
  return row.metadata.replaced_by ?? null;
}

/** Writes down what time brings to a refund from `at` on, of which its gateway may have said until when it takes; one to the wallet waits for nothing. */
export async function writeRefundAgenda(
  tx: PaymentTransaction,
  row: RefundRow,
  at: string,
  expectedBy: string | null = null,
): Promise<void> {
  const standing = {
    refundStatus: row.refund_status,
    replacedBy: replacedBy(row),
    sentAt: instantOrNull(row.sent_at),
  };
  await replaceAgendas(tx, [
    {
      tenantId: row.tenant_id,
      environmentId: row.environment_id,
      objectType: 'refund',
      objectId: row.id,
      customerId: row.customer_id,
      testClockId: row.test_clock_id,
      items: row.refund_destination === 'GATEWAY' ? refundAgenda(standing, at, expectedBy) : [],
    },
  ]);
}

/** An event of a refund as its row shows it. spec: platform §17.2 */
export function refundEvent(name: RefundEvent['name'], row: RefundRow, at: string): RefundEvent {
  const refund = {
    id: row.id,
    payment_id: row.payment_id,
    credit_note_id: row.credit_note_id,
    invoice_id: row.invoice_id,
    customer_id: row.customer_id,
    amount: decimalText(row.amount),
    currency: row.currency,
    refund_status: row.refund_status,
    refund_reason: row.refund_reason,
    payment_gateway: row.payment_gateway,
    gateway_refund_id: row.gateway_refund_id,
    failure_reason: row.failure_reason,
    initiated_at: instantOrNull(row.initiated_at),
    succeeded_at: instantOrNull(row.succeeded_at),
    failed_at: instantOrNull(row.failed_at),
    cancelled_at: instantOrNull(row.cancelled_at),
    metadata: row.metadata,
  };
  return { name, entityType: 'refund', entityId: row.id, payload: { refund }, occurredAt: at };
}

/** The audit row of a refund's change. */
export function refundAudit(row: RefundRow, action: string, at: string, detail: Record<string, unknown>): AuditRecord {
  return { objectType: 'refund', objectId: row.id, action, version: row.version, occurredAt: at, detail };
}

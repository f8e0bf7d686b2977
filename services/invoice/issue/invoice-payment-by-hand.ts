import type { NotedPayment } from '../../../billing/invoice/invoice-command.ts';
import { paymentByHand } from '../../../billing/invoice/invoice-payment.ts';
import { refuse } from '../../../billing/refusal.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { settlePurchases } from '../../refund/purchase-settlement.ts';
import { refreshInvoiceAgenda } from '../read/invoice-snapshot.ts';
import { refuseGatedInvoice } from './invoice-gate.ts';
import { endLinksOf } from './open-link.ts';

/** What a person writes down about the payment of an invoice. */
export interface PaymentNote extends NotedPayment {
  invoiceId: string;
  /** The customer's present. */
  at: string;
}

interface NotedRow {
  invoice_status: string;
  payment_status: string;
  source_type: string;
  amount_due: string;
  amount_paid: string;
  paid_at: string | null;
  subscription_id: string | null;
  purchase_id: string | null;
  customer_id: string;
  test_clock_id: string | null;
  currency: string;
  refunded_amount: string;
  version: number;
  has_captured: boolean;
  in_flight: boolean;
  [column: string]: unknown;
}

const notedText = `
select i.invoice_status, i.payment_status, i.source_type, i.amount_due, i.amount_paid, i.paid_at, i.subscription_id, i.version,
  i.purchase_id, i.customer_id, i.test_clock_id, i.currency, i.refunded_amount,
  exists(select from payment p where p.environment_id = i.environment_id and p.destination_id = i.id and p.status = 'published'
    and not p.unapplied and p.payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')) as has_captured,
  exists(select from payment p where p.environment_id = i.environment_id and p.destination_id = i.id and p.status = 'published'
    and p.payment_status = 'PROCESSING') as in_flight
from invoice i where i.environment_id = $1 and i.id = $2 and i.status = 'published' for update of i`;

const settled = ['SUCCEEDED', 'OVERPAID'];

/**
 * Writes down how an invoice was paid outside any payment record. A settled one is not collected any more, and an incomplete
 * subscription whose opening invoice it is becomes active. While a charge is under way the status is PROCESSING and cannot be
 * moved by hand. Throws `not_found`, `invalid_operation` for a draft and once a payment record succeeded, `validation_error` for other moves
 * and amounts, and for an invoice that is VOIDED or SKIPPED. spec: subscriptions-and-invoicing §2.15.12, errors 42 and 43
 */
export async function notePayment(sql: Sql, scope: Scope, note: PaymentNote): Promise<void> {
  const { invoiceId, at } = note;
  await endLinksOf({ ...sql, scope }, invoiceId, at);
  const [row] = await sql.rows<NotedRow>(notedText, [scope.environmentId, invoiceId]);
  if (!row) throw missing('invoice', invoiceId);
  await refuseGatedInvoice(sql, scope, invoiceId, 'paid by hand');
  if (row.invoice_status === 'DRAFT') {
    throw refuse('invalid_operation', `invoice ${invoiceId} is DRAFT; only a finalized invoice can be paid`, {
      invoice_id: invoiceId,
    });
  }
  if (row.invoice_status !== 'FINALIZED') {
    throw refuse(
      'validation_error',
      `an invoice that is ${row.invoice_status} cannot be paid; only a FINALIZED one can`,
      {
        invoice_status: row.invoice_status,
      },
    );
  }
  const after = paymentByHand(
    {
      paymentStatus: row.in_flight ? 'PROCESSING' : row.payment_status,
      amountDue: decimalText(row.amount_due),
      amountPaid: decimalText(row.amount_paid),
      hasSucceededPayment: row.has_captured,
    },
    note,
  );
  const paidAt = row.paid_at === null && settled.includes(after.paymentStatus) ? at : null;
  await sql.rows(
    `update invoice set payment_status = $3, amount_paid = $4, amount_paid_by_hand = $4, amount_remaining = $5, overpaid_amount = $6,
       paid_at = coalesce(paid_at, $7::timestamptz), version = version + 1, updated_at = $8, updated_by = $9
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      invoiceId,
      after.paymentStatus,
      after.amountPaid,
      after.amountRemaining,
      after.overpaidAmount,
      paidAt,
      new Date().toISOString(),
      scope.actor,
    ],
  );
  await writeEvents(sql, scope, invoiceEvents('invoice.update.payment', invoiceId, at));
  const detail = { payment_status: after.paymentStatus, amount_paid: after.amountPaid };
  await writeAudit(sql, scope, [
    {
      objectType: 'invoice',
      objectId: invoiceId,
      action: 'payment noted',
      version: row.version + 1,
      occurredAt: at,
      detail,
    },
  ]);
  if (settled.includes(after.paymentStatus) && !settled.includes(row.payment_status)) {
    const paid = { ...row, id: invoiceId, amount_paid: after.amountPaid };
    await settlePurchases({ ...sql, scope }, [paid], at);
  }
  await refreshInvoiceAgenda(sql, scope, invoiceId);
  if (row.subscription_id) await refreshSubscriptions(sql, scope.environmentId, [row.subscription_id]);
}

import { refuse } from '../../../billing/refusal.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshIncomplete } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { openPayment } from '../../collection/payment.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { type AttendedInvoice, refreshInvoiceAgenda } from '../read/invoice-snapshot.ts';
import { refuseGatedInvoice } from './invoice-gate.ts';
import { refuseBesideLink } from './open-link.ts';

/** An invoice after an attempt to collect it. */
export interface CollectedInvoice extends AttendedInvoice {
  /** Postpaid wallets have just paid all of it, so that no gateway is asked. */
  isPaidByWallets?: boolean;
}

interface RetriedRow {
  collection_attempts: number;
  subscription_id: string | null;
  gateway_payment_method_id: string | null;
  billing_reason: string;
}

/**
 * Opens the next payment of an unpaid invoice: attempt `attempt`, at most once. Without a saved method the attempt counts and
 * nothing is opened. spec: subscriptions-and-invoicing §2.15.12 Attempt
 */
export async function openRetry(
  sql: Sql,
  scope: Scope,
  input: { invoiceId: string; attempt: number; at: string; isByHand?: boolean },
): Promise<CollectedInvoice> {
  const [row] = await sql.rows<RetriedRow & Record<string, unknown>>(
    `select i.collection_attempts, i.subscription_id, i.billing_reason, s.gateway_payment_method_id from invoice i left join subscription s on s.id = i.subscription_id
     where i.environment_id = $1 and i.id = $2 for update of i`,
    [scope.environmentId, input.invoiceId],
  );
  if (!row) throw missing('invoice', input.invoiceId);
  let isPaidByWallets = false;
  if (row.collection_attempts < input.attempt) {
    await sql.rows('update invoice set collection_attempts = $3 where environment_id = $1 and id = $2', [
      scope.environmentId,
      input.invoiceId,
      input.attempt,
    ]);
    const opened = await openPayment(
      { ...sql, scope },
      {
        invoiceId: input.invoiceId,
        idempotencyKey: `${input.invoiceId}/${input.attempt + 1}`,
        at: input.at,
        paymentMethodId: row.gateway_payment_method_id,
        isByHand: input.isByHand ?? false,
        asksPayer: row.billing_reason !== 'WALLET_AUTO_TOPUP',
      },
    );
    isPaidByWallets = opened.kind === 'paid_by_wallets';
    const { subscription_id: subscriptionId } = row;
    await refreshIncomplete(sql, scope.environmentId, [{ invoicePaid: isPaidByWallets, subscriptionId }]);
  }
  return { ...(await refreshInvoiceAgenda(sql, scope, input.invoiceId)), isPaidByWallets };
}

/** A person asks to collect now: refused unless something is due and nothing is under way. spec: §1.11, §2.15.12 */
export async function openAttempt(
  sql: Sql,
  scope: Scope,
  input: { invoiceId: string; at: string },
): Promise<CollectedInvoice> {
  const [row] = await sql.rows<{
    invoice_status: string;
    payment_status: string;
    collection_attempts: number;
    remains: boolean;
    is_free: boolean;
  }>(
    'select invoice_status, payment_status, collection_attempts, amount_remaining > 0 as remains, amount_due = 0 as is_free from invoice where environment_id = $1 and id = $2 for update',
    [scope.environmentId, input.invoiceId],
  );
  if (!row) throw missing('invoice', input.invoiceId);
  if (row.invoice_status === 'SKIPPED' || (row.invoice_status === 'FINALIZED' && row.is_free)) {
    return refreshInvoiceAgenda(sql, scope, input.invoiceId);
  }
  await refuseGatedInvoice(sql, scope, input.invoiceId, 'collected');
  await refuseBesideLink(sql, scope, input.invoiceId);
  if (row.invoice_status !== 'FINALIZED')
    throw refuse(
      'validation_error',
      `an invoice that is ${row.invoice_status} cannot be collected; only a FINALIZED one can`,
      { invoice_status: row.invoice_status },
    );
  if (!row.remains) {
    throw refuse('validation_error', 'the invoice is paid already; there is nothing to collect', {
      payment_status: row.payment_status,
    });
  }
  await sql.rows('update invoice set attended = true where environment_id = $1 and id = $2', [
    scope.environmentId,
    input.invoiceId,
  ]);
  const attempt = row.collection_attempts + 1;
  return openRetry(sql, scope, { invoiceId: input.invoiceId, attempt, at: input.at, isByHand: true });
}

/** Emits `invoice.payment.overdue` once when the due date passed unpaid. spec: subscriptions-and-invoicing §2.5 Overdue */
export async function noteOverdue(
  sql: Sql,
  scope: Scope,
  input: { invoiceId: string; at: string },
): Promise<AttendedInvoice> {
  const noted = await sql.rows<{ due_date: string }>(
    `update invoice set overdue_noted_at = $3 where environment_id = $1 and id = $2 and overdue_noted_at is null
       and invoice_status = 'FINALIZED' and amount_remaining > 0 and due_date <= $3 returning due_date`,
    [scope.environmentId, input.invoiceId, input.at],
  );
  for (const { due_date } of noted) {
    await writeEvents(sql, scope, invoiceEvents('invoice.payment.overdue', input.invoiceId, input.at));
    await writeAudit(sql, scope, [
      {
        objectType: 'invoice',
        objectId: input.invoiceId,
        action: 'overdue',
        occurredAt: input.at,
        detail: { due_date: instantText(due_date) },
      },
    ]);
  }
  return refreshInvoiceAgenda(sql, scope, input.invoiceId);
}

import type { AgendaItem } from '../../../billing/agenda.ts';
import { invoiceAgenda } from '../../../billing/invoice/invoice-agenda.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { refreshLocked } from '../../charging/late-payers.ts';
import { enforcesPayment } from '../../charging/late-payment.ts';
import { isUnopenedPayerLink } from '../../collection/payer-link.ts';
import { releaseLots } from '../../ledger/wallet-agenda.ts';
import { replaceAgendas } from '../../lifecycle/agenda.ts';

/** An invoice as its workflow sees it. */
export interface AttendedInvoice {
  id: string;
  tenantId: string;
  environmentId: string;
  customerId: string;
  subscriptionId: string | null;
  testClockId: string | null;
  version: number;
  status: string;
  paymentStatus: string;
  collectionAttempts: number;
  dueDate: string | null;
  agenda: AgendaItem[];
  /** The step at which it is parked, and why; null when it is not. */
  blockedOn: string | null;
  blockedReason: string | null;
  /** Reason of its last charge that failed. */
  declineReason: string | null;
  /** Whether it has consequences for its subscription when it is not paid. */
  isEnforced: boolean;
}

interface SnapshotRow {
  id: string;
  tenant_id: string;
  environment_id: string;
  customer_id: string;
  subscription_id: string | null;
  test_clock_id: string | null;
  version: number;
  invoice_status: string;
  payment_status: string;
  remains: boolean;
  collection_method: 'charge_automatically' | 'send_invoice';
  billing_reason: string;
  collection_attempts: number;
  finalized_at: string | null;
  due_date: string | null;
  overdue_noted_at: string | null;
  open_payment_id: string | null;
  awaits_gateway: boolean;
  unopened_link_id: string | null;
  attended: boolean;
  retry_after_days: number[] | null;
  parked: [string, string] | null;
  decline_reason: string | null;
  is_enforced: boolean;
  [column: string]: unknown;
}

const snapshotText = `
select i.id, i.tenant_id, i.environment_id, i.customer_id, i.subscription_id, i.test_clock_id, i.version, i.invoice_status, i.payment_status,
  i.amount_remaining > 0 as remains, i.collection_method, i.billing_reason, i.collection_attempts, i.finalized_at, i.due_date, i.overdue_noted_at, i.attended,
  (select value -> 'retry_after_days' from setting where environment_id = i.environment_id and key = 'dunning_config'
     and status = 'published') as retry_after_days,
  (select p.id from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
     and p.payment_status = 'PROCESSING' and not p.attended and (i.billing_reason <> 'WALLET_AUTO_TOPUP' or not exists (
       select from auto_topup_attempt a where a.environment_id = i.environment_id and a.payment_id = p.id)) limit 1) as open_payment_id,
  exists(select 1 from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
     and ((p.payment_status = 'PROCESSING' and p.attended)
       or (p.payment_status in ('INITIATED', 'PENDING') and p.checkout_session_id is not null))) as awaits_gateway,
  (select p.id from payment p where p.environment_id = i.environment_id and p.destination_id = i.id and ${isUnopenedPayerLink}) as unopened_link_id,
  (select array[o.step, o.reason] from parked_object o where o.environment_id = i.environment_id and o.object_type = 'invoice' and o.object_id = i.id) as parked,
  (select p.error_message from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
     and p.payment_status = 'FAILED' order by p.failed_at desc, p.id desc limit 1) as decline_reason,
  ${enforcesPayment} as is_enforced
from invoice i where i.environment_id = $1 and i.id = $2`;

/** Reads an invoice and what time will bring to it. Throws `not_found`. */
export async function readAttendedInvoice(sql: Sql, scope: Scope, invoiceId: string): Promise<AttendedInvoice> {
  const [row] = await sql.rows<SnapshotRow>(snapshotText, [scope.environmentId, invoiceId]);
  if (!row) throw missing('invoice', invoiceId);
  // Dunning never touches an automatic top-up: its wallet decides when anything is charged or given up. README decision 25
  const isTopUp = row.billing_reason === 'WALLET_AUTO_TOPUP';
  const agenda = invoiceAgenda({
    status: row.invoice_status,
    paymentStatus: row.payment_status,
    remains: row.remains,
    collectionMethod: isTopUp ? 'send_invoice' : row.collection_method,
    collectionAttempts: row.collection_attempts,
    finalizedAt: row.finalized_at ? instantText(row.finalized_at) : null,
    dueDate: row.due_date && !isTopUp ? instantText(row.due_date) : null,
    overdueNotedAt: row.overdue_noted_at ? instantText(row.overdue_noted_at) : null,
    openPaymentId: row.open_payment_id,
    awaitsGateway: row.awaits_gateway,
    unopenedLinkId: row.unopened_link_id,
    retryAfterDays: row.retry_after_days,
  });
  return {
    id: row.id,
    tenantId: row.tenant_id,
    environmentId: row.environment_id,
    customerId: row.customer_id,
    subscriptionId: row.subscription_id,
    testClockId: row.test_clock_id,
    version: row.version,
    status: row.invoice_status,
    paymentStatus: row.payment_status,
    collectionAttempts: row.collection_attempts,
    dueDate: row.due_date ? instantText(row.due_date) : null,
    // As long as its subscription looks after the invoice, its own workflow waits for nothing.
    agenda: row.attended ? agenda : [],
    blockedOn: row.parked?.[0] ?? null,
    blockedReason: row.parked?.[1] ?? null,
    declineReason: row.decline_reason,
    isEnforced: row.is_enforced && row.subscription_id !== null,
  };
}

/** Whether there is an invoice of this id in the environment. */
export async function isInvoiceThere(sql: Sql, scope: Scope, invoiceId: string): Promise<boolean> {
  const rows = await sql.rows('select id from invoice where environment_id = $1 and id = $2', [
    scope.environmentId,
    invoiceId,
  ]);
  return rows.length > 0;
}

/**
 * Reads an invoice after a change and writes its agenda down in the same transaction, and that of its subscription where what is
 * not paid has consequences. Under the invoice's lock, and read after it: its own workflow and its subscription's both write this
 * agenda, and a payment that another transaction records meanwhile must not be followed by an agenda from before it.
 */
export async function refreshInvoiceAgenda(sql: Sql, scope: Scope, invoiceId: string): Promise<AttendedInvoice> {
  await sql.rows('select 1 from invoice where environment_id = $1 and id = $2 for no key update', [
    scope.environmentId,
    invoiceId,
  ]);
  const invoice = await readAttendedInvoice(sql, scope, invoiceId);
  await replaceAgendas(sql, [
    {
      tenantId: invoice.tenantId,
      environmentId: invoice.environmentId,
      objectType: 'invoice',
      objectId: invoice.id,
      customerId: invoice.customerId,
      testClockId: invoice.testClockId,
      items: invoice.agenda,
    },
  ]);
  releaseLots(sql, scope, [invoice.customerId]);
  if (invoice.isEnforced) await refreshLocked(sql, scope, [invoice.subscriptionId!]);
  return invoice;
}

/** From now on an issued invoice's own workflow looks after it. Said twice it changes nothing. */
export async function attendInvoice(sql: Sql, scope: Scope, invoiceId: string): Promise<AttendedInvoice> {
  await sql.rows(
    `update invoice set attended = true where environment_id = $1 and id = $2 and invoice_status = 'FINALIZED' and not attended`,
    [scope.environmentId, invoiceId],
  );
  return refreshInvoiceAgenda(sql, scope, invoiceId);
}

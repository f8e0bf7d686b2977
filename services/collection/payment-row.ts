import { isPaymentSettled, type PaymentStatus } from '../../billing/payment/payment.ts';
import { refuse } from '../../billing/refusal.ts';
import type { WalletsFollow } from '../../billing/wallet/postpaid-payment.ts';
import { anyOf } from '../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { AuditRecord } from '../platform/audit.ts';
import type { InvoiceEvent } from '../platform/event-catalogue/invoice-events.ts';
import type { PaymentEvent } from '../platform/event-catalogue/payment-events.ts';

/** A transaction of named SQL with its scope; both kinds of transaction are one. */
export type PaymentTransaction = Sql & { readonly scope: Scope };

/** The columns of a payment as named SQL reads them; timestamps and numerics are PostgreSQL text. */
export interface PaymentRow {
  id: string;
  tenant_id: string;
  environment_id: string;
  status: string;
  idempotency_key: string;
  destination_type: string;
  destination_id: string;
  /** The purchase of credits that a payment without an invoice pays. */
  purchase_id: string | null;
  customer_id: string;
  payment_method_type: string;
  payment_method_id: string | null;
  payment_gateway: string | null;
  gateway_payment_id: string | null;
  intent_token: string;
  amount: string;
  currency: string;
  payment_status: PaymentStatus;
  track_attempts: boolean;
  /** Condition on which postpaid wallets pay the part that the card is not asked for; null when they do not. */
  wallets_follow: WalletsFollow | null;
  attended: boolean;
  payment_url: string | null;
  /** Instant at which the gateway first said that the payer has to confirm. */
  awaits_payer_since: string | null;
  error_message: string | null;
  succeeded_at: string | null;
  failed_at: string | null;
  refunded_at: string | null;
  voided_at: string | null;
  /** True of money that pays nothing and goes back. */
  unapplied: boolean;
  test_clock_id: string | null;
  /** The checkout session that alone may settle it while it is open. */
  checkout_session_id: string | null;
  version: number;
}

/** The columns of an invoice that a payment reads or changes. */
export interface PayableInvoiceRow {
  id: string;
  customer_id: string;
  subscription_id: string | null;
  invoice_number: string | null;
  invoice_status: string;
  payment_status: string;
  currency: string;
  amount_due: string;
  amount_paid: string;
  amount_remaining: string;
  overpaid_amount: string;
  refunded_amount: string;
  paid_at: string | null;
  test_clock_id: string | null;
  /** The purchase of credits that it bills. */
  purchase_id: string | null;
  /** True when the payer has a postpaid wallet with a balance, which may pay it. */
  has_postpaid_wallet: boolean;
  version: number;
}

export const paymentColumns = `id, tenant_id, environment_id, status, idempotency_key, destination_type, destination_id, purchase_id,
  customer_id, payment_method_type, payment_method_id, payment_gateway, gateway_payment_id, intent_token, amount, currency, payment_status,
  track_attempts, wallets_follow, attended, payment_url, awaits_payer_since, error_message, succeeded_at, failed_at, refunded_at, voided_at, unapplied,
  test_clock_id, checkout_session_id, version`;

const hasPostpaidWallet = `(invoice.purchase_id is null and exists (select from wallet w where w.environment_id = invoice.environment_id
    and w.customer_id = invoice.customer_id and w.currency = lower(invoice.currency) and w.wallet_type = 'POST_PAID'
    and w.wallet_status = 'active' and w.status = 'published' and w.balance > 0))`;

const invoiceColumns = `id, customer_id, subscription_id, invoice_number, invoice_status, payment_status, currency, amount_due,
  amount_paid, amount_remaining, overpaid_amount, refunded_amount, paid_at, test_clock_id, purchase_id, version,
  ${hasPostpaidWallet} as has_postpaid_wallet`;

/** Locks one invoice; null when this environment has none of that id. See `lockPayableInvoices`. */
export async function lockPayableInvoice(
  sql: Sql,
  environmentId: string,
  invoiceId: string,
): Promise<PayableInvoiceRow | null> {
  const [row] = await lockPayableInvoices(sql, environmentId, [invoiceId]);
  return row ?? null;
}

/**
 * Locks invoices for a change of their payments and returns those that exist. Invoices are locked in the order of their ids
 * and always before their payments, so that two changes wait for each other instead of deadlocking.
 * spec: wallets-and-payments §0 Locks
 */
export async function lockPayableInvoices(
  sql: Sql,
  environmentId: string,
  invoiceIds: readonly string[],
): Promise<PayableInvoiceRow[]> {
  return sql.rows<PayableInvoiceRow>(
    `select ${invoiceColumns} from invoice where id = any($1) and environment_id = $2 and status = 'published' order by id for update`,
    [invoiceIds, environmentId],
    'payable-invoices-locked',
  );
}

/** A payment and the invoice it pays; null where its destination is the customer. */
export interface PaymentWithInvoice {
  invoice: PayableInvoiceRow | null;
  payment: PaymentRow;
}

/** Locks a payment behind its invoice, where it pays one. Throws `not_found`. */
export async function lockPaymentWithInvoice(tx: PaymentTransaction, paymentId: string): Promise<PaymentWithInvoice> {
  const [locked] = await lockPaymentsWithInvoices(tx, [paymentId]);
  return locked!;
}

/** Locks payments behind their invoices, both in the order of their ids, and returns them as asked. Throws `not_found`. */
export async function lockPaymentsWithInvoices(
  tx: PaymentTransaction,
  paymentIds: readonly string[],
): Promise<PaymentWithInvoice[]> {
  const environmentId = tx.scope.environmentId;
  const values = [paymentIds, environmentId];
  const invoices = await tx.rows<PayableInvoiceRow>(
    `select ${invoiceColumns} from invoice where environment_id = $2
       and id = any(array(select destination_id from payment where id = any($1) and environment_id = $2)) order by id for update`,
    values,
    'paid-invoices-locked',
  );
  const payments = await tx.rows<PaymentRow>(
    `select ${paymentColumns} from payment
     where id = ${anyOf('$1')} and environment_id = $2 and status = 'published' order by id for update`,
    values,
    'payments-locked',
  );
  const invoiceOf = new Map(invoices.map((row) => [row.id, row]));
  const paymentOf = new Map(payments.map((row) => [row.id, row]));
  return paymentIds.map((id) => {
    const payment = paymentOf.get(id);
    const invoice = payment && invoiceOf.get(payment.destination_id);
    if (!payment || (!invoice && payment.destination_type === 'INVOICE')) throw missing('payment', id);
    return { invoice: invoice ?? null, payment };
  });
}

/** Purpose of a payment that is to be inserted, and whose it is. */
export interface PaymentDestination {
  type: 'INVOICE' | 'CUSTOMER';
  id: string;
  customerId: string;
  currency: string;
  testClockId: string | null;
  /** The purchase of credits that a payment without an invoice pays. */
  purchaseId: string | null;
}

/** An invoice as the destination of a payment. */
export function invoiceAsDestination(invoice: PayableInvoiceRow): PaymentDestination {
  return {
    type: 'INVOICE',
    id: invoice.id,
    customerId: invoice.customer_id,
    currency: invoice.currency,
    testClockId: invoice.test_clock_id,
    purchaseId: null,
  };
}

/** Detail of an audit row that names what a payment is for. */
export function destinationDetail(row: PaymentRow): Record<string, string> {
  if (row.destination_type === 'INVOICE') return { invoice_id: row.destination_id };
  return row.purchase_id === null ? {} : { wallet_transaction_id: row.purchase_id };
}

/** Refuses (invalid_operation) what others do to a payment that its checkout session alone settles. design: money-in-checkout §B8 */
export function refuseSessionPayment(payment: PaymentRow, verb: string): void {
  const { checkout_session_id: session, payment_status: status } = payment;
  if (session === null || isPaymentSettled(status)) return;
  throw refuse(
    'invalid_operation',
    `payment ${payment.id} belongs to checkout session ${session} and cannot be ${verb} until that ends; cancel the session first`,
    { context: { checkout_session_id: session } },
  );
}

/** An event of a payment as its row shows it. */
export function paymentEvent(
  name: PaymentEvent['name'],
  row: PaymentRow,
  invoiceNumber: string | null,
  at: string,
): PaymentEvent {
  return {
    name,
    entityType: 'payment',
    entityId: row.id,
    payload: { payment: paymentEventObject(row, invoiceNumber) },
    occurredAt: at,
  };
}

/** The audit row of a payment's change. */
export function paymentAudit(
  row: PaymentRow,
  action: string,
  at: string,
  detail: Record<string, unknown>,
): AuditRecord {
  return { objectType: 'payment', objectId: row.id, action, version: row.version, occurredAt: at, detail };
}

/** `payment` as outbound events carry it. spec: wallets-and-payments §2.24 */
function paymentEventObject(row: PaymentRow, invoiceNumber: string | null): PaymentEvent['payload']['payment'] {
  return {
    id: row.id,
    amount: decimalText(row.amount),
    currency: row.currency,
    destination_id: row.destination_id,
    destination_type: row.destination_type,
    invoice_number: invoiceNumber,
    payment_gateway: row.payment_gateway,
    payment_method_type: row.payment_method_type,
    payment_status: row.payment_status,
    error_message: row.error_message,
    succeeded_at: instantOrNull(row.succeeded_at),
    failed_at: instantOrNull(row.failed_at),
    refunded_at: instantOrNull(row.refunded_at),
    voided_at: instantOrNull(row.voided_at),
  };
}

/** The event of an invoice whose payments changed. */
export function paidInvoiceEvent(row: PayableInvoiceRow, at: string): InvoiceEvent {
  const payload = { invoice: paidInvoiceEventObject(row) };
  return { name: 'invoice.update.payment', entityType: 'invoice', entityId: row.id, payload, occurredAt: at };
}

/** The audit row of an invoice that money came for. */
export function receivedAudit(invoice: PayableInvoiceRow, paymentId: string, at: string): AuditRecord {
  return {
    objectType: 'invoice',
    objectId: invoice.id,
    action: 'payment received',
    version: invoice.version,
    occurredAt: at,
    detail: { payment_id: paymentId, payment_status: invoice.payment_status },
  };
}

/** What changed of an invoice by a payment; a delivery reads the full invoice when it is sent. spec: platform §17.1 */
function paidInvoiceEventObject(row: PayableInvoiceRow): InvoiceEvent['payload']['invoice'] {
  return {
    id: row.id,
    customer_id: row.customer_id,
    subscription_id: row.subscription_id,
    invoice_number: row.invoice_number,
    invoice_status: row.invoice_status,
    payment_status: row.payment_status,
    currency: row.currency,
    amount_due: decimalText(row.amount_due),
    amount_paid: decimalText(row.amount_paid),
    amount_remaining: decimalText(row.amount_remaining),
    overpaid_amount: decimalText(row.overpaid_amount),
    paid_at: instantOrNull(row.paid_at),
  };
}

export function instantOrNull(value: string | null): string | null {
  return value === null ? null : instantText(value);
}

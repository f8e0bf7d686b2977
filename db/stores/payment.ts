import type { PaymentStatus } from '../../billing/payment.ts';
import { intentTokenOf } from '../../billing/payment.ts';
import { writeAudit } from '../audit.ts';
import { decimalText } from '../columns.ts';
import { newId } from '../id.ts';
import { writeEvents } from '../outbox.ts';
import { missing } from '../record.ts';
import {
  lockPayableInvoice,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from './payment-row.ts';

export interface PaymentToOpen {
  invoiceId: string;
  /** One for each attempt to collect: `<invoice id>/<attempt>`. The same key finds the same payment. */
  idempotencyKey: string;
  /** The customer's present. */
  at: string;
  /** The method to charge; the customer's default when null. */
  paymentMethodId?: string | null;
  paymentId?: string;
  metadata?: Record<string, string>;
}

export type OpenedPayment =
  /** A payment was opened, or was opened before under this key: ask the gateway. */
  | { kind: 'opened' | 'existing'; paymentId: string; paymentStatus: PaymentStatus }
  /** Another payment of this invoice waits for its gateway; charging again could take the money twice. */
  | { kind: 'in_flight'; paymentId: string; paymentStatus: PaymentStatus }
  | { kind: 'nothing_due' | 'not_payable' | 'no_payment_method' };

/**
 * Opens the payment of what remains of a finalized invoice: PENDING, then PROCESSING, with the token the gateway will know
 * it by. Nothing is sent. Calling it again with the same key returns the same payment, whatever became of it. Throws
 * `not_found` for an unknown invoice. spec: wallets-and-payments §2.19; subscriptions-and-invoicing §2.15.12
 */
export async function openPayment(tx: PaymentTransaction, input: PaymentToOpen): Promise<OpenedPayment> {
  const invoice = await lockPayableInvoice(tx, tx.scope.environmentId, input.invoiceId);
  if (!invoice) throw missing('invoice', input.invoiceId, 'invoice_id');
  const [earlier] = await tx.rows<Pick<PaymentRow, 'id' | 'idempotency_key' | 'payment_status'>>(earlierPaymentText, [
    tx.scope.environmentId,
    invoice.id,
    input.idempotencyKey,
  ]);
  if (earlier) {
    const kind = earlier.idempotency_key === input.idempotencyKey ? 'existing' : 'in_flight';
    return { kind, paymentId: earlier.id, paymentStatus: earlier.payment_status };
  }
  if (invoice.invoice_status !== 'FINALIZED') return { kind: 'not_payable' };
  if (decimalText(invoice.amount_remaining) === '0') return { kind: 'nothing_due' };
  const method = await chargeableMethod(tx, invoice.customer_id, input.paymentMethodId ?? null);
  if (!method) return { kind: 'no_payment_method' };
  const payment = await insertPayment(tx, {
    id: input.paymentId ?? newId('pay'),
    idempotencyKey: input.idempotencyKey,
    invoice,
    paymentMethodType: 'CARD',
    paymentMethodId: method.id,
    paymentGateway: method.gateway,
    amount: decimalText(invoice.amount_remaining),
    paymentStatus: 'PROCESSING',
    attended: false,
    metadata: input.metadata ?? {},
  });
  await writeEvents(tx, tx.scope, [
    paymentEvent('payment.created', { ...payment, payment_status: 'PENDING' }, invoice.invoice_number, input.at),
    paymentEvent('payment.pending', payment, invoice.invoice_number, input.at),
  ]);
  await writeAudit(tx, tx.scope, [paymentAudit(payment, 'opened', input.at, { invoice_id: invoice.id })]);
  return { kind: 'opened', paymentId: payment.id, paymentStatus: payment.payment_status };
}

/** Whether a payment of this invoice waits for its gateway, so that the invoice cannot be voided. spec: README decision 16 */
export async function isPaymentInFlight(tx: PaymentTransaction, invoiceId: string): Promise<boolean> {
  const [row] = await tx.rows(
    `select 1 from payment where environment_id = $1 and destination_id = $2 and status = 'published' and payment_status = 'PROCESSING' limit 1`,
    [tx.scope.environmentId, invoiceId],
  );
  return row !== undefined;
}

/** A payment as it is inserted. */
export interface PaymentToInsert {
  id: string;
  idempotencyKey: string;
  invoice: PayableInvoiceRow;
  paymentMethodType: string;
  paymentMethodId: string | null;
  paymentGateway: string | null;
  amount: string;
  paymentStatus: PaymentStatus;
  /** True when the payment's own workflow will wait for the gateway from the start. */
  attended: boolean;
  metadata: Record<string, string>;
}

/** Inserts a payment of an invoice; the token of its first attempt is made of its id. */
export async function insertPayment(tx: PaymentTransaction, input: PaymentToInsert): Promise<PaymentRow> {
  const { tenantId, environmentId, actor } = tx.scope;
  const [row] = await tx.rows<PaymentRow>(insertText, [
    input.id,
    tenantId,
    environmentId,
    new Date().toISOString(),
    actor,
    input.idempotencyKey,
    input.invoice.id,
    input.invoice.customer_id,
    input.paymentMethodType,
    input.paymentMethodId,
    input.paymentGateway,
    intentTokenOf(input.id, 1),
    input.amount,
    input.invoice.currency,
    input.paymentStatus,
    input.paymentGateway !== null,
    input.attended,
    JSON.stringify(input.metadata),
    input.invoice.test_clock_id,
  ]);
  return row!;
}

/** The saved method to charge: the one named, or the customer's default; null when there is none. spec: wallets-and-payments §1.5 */
export async function chargeableMethod(
  tx: PaymentTransaction,
  customerId: string,
  paymentMethodId: string | null,
): Promise<{ id: string; gateway: string } | null> {
  const [method] = await tx.rows<{ id: string; gateway: string }>(
    `select id, gateway from payment_method
     where environment_id = $1 and customer_id = $2 and status = 'published' and case when $3::text is null then is_default else id = $3 end`,
    [tx.scope.environmentId, customerId, paymentMethodId],
  );
  return method ?? null;
}

/** What the gateway is asked to charge for a payment. */
export interface PaymentCharge {
  gateway: string;
  intentToken: string;
  amount: string;
  currency: string;
  paymentMethodToken: string;
  description: string;
  metadata: Record<string, string>;
}

/** The charge of a payment as its gateway is asked for it, the same every time. Throws `not_found`. */
export async function chargeOfPayment(tx: PaymentTransaction, paymentId: string): Promise<PaymentCharge> {
  const [row] = await tx.rows<ChargeRow>(chargeText, [tx.scope.environmentId, paymentId]);
  if (!row) throw missing('payment', paymentId);
  return {
    gateway: row.gateway,
    intentToken: row.intent_token,
    amount: decimalText(row.amount),
    currency: row.currency,
    paymentMethodToken: row.gateway_token,
    description: row.invoice_number ? `Invoice ${row.invoice_number}` : `Invoice ${row.destination_id}`,
    metadata: { payment_id: paymentId, invoice_id: row.destination_id },
  };
}

interface ChargeRow {
  gateway: string;
  intent_token: string;
  amount: string;
  currency: string;
  gateway_token: string;
  destination_id: string;
  invoice_number: string | null;
}

// The method may have been archived since: a charge that was sent is still asked about.
const chargeText = `
select m.gateway, m.gateway_token, p.intent_token, p.amount, p.currency, p.destination_id, i.invoice_number
from payment p join payment_method m on m.id = p.payment_method_id join invoice i on i.id = p.destination_id
where p.environment_id = $1 and p.id = $2`;

// The payment under this key if there is one, else one of the invoice that waits for its gateway.
const earlierPaymentText = `
select id, idempotency_key, payment_status from payment
where environment_id = $1 and destination_id = $2 and status = 'published'
  and (idempotency_key = $3 or (payment_status = 'PROCESSING' and track_attempts))
order by (idempotency_key = $3) desc, id desc limit 1`;

const insertText = `
insert into payment (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, idempotency_key, destination_type,
  destination_id, customer_id, payment_method_type, payment_method_id, payment_gateway, intent_token, amount, currency,
  payment_status, track_attempts, attended, metadata, test_clock_id)
values ($1, $2, $3, $4, $5, $4, $5, $6, 'INVOICE', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
returning ${paymentColumns}`;

import { createHash } from 'node:crypto';
import { currencyPrecision } from '../../billing/money/money.ts';
import { assertPaymentMove, isPaymentSettled } from '../../billing/payment/payment.ts';
import { refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import { badField, missing } from '../../db/rows/record.ts';
import { chargeableMethod, refuseAboveMandate, refuseBesideCharge } from '../collection/payment.ts';
import { insertPayment } from '../collection/payment-insert.ts';
import {
  destinationDetail,
  invoiceAsDestination,
  lockPayableInvoice,
  lockPaymentWithInvoice,
  type PayableInvoiceRow,
  type PaymentDestination,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
  refuseSessionPayment,
} from '../collection/payment-row.ts';
import { atOnce } from '../collection/wallet-payment.ts';
import { refuseGatedInvoice } from '../invoice/issue/invoice-gate.ts';
import { refuseBesideLink } from '../invoice/issue/open-link.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { writeUnansweredAgenda } from './payment-agenda.ts';
import { type RecordedPayment, recordPaymentOutcome } from './payment-outcome.ts';
import { takeFromWallet, walletToPayFrom } from './wallet-payment-request.ts';

/** A payment as a caller asks for it; shapes are checked, facts are not. spec: wallets-and-payments §1.5 */
export interface PaymentRequest {
  id: string;
  destinationType: 'INVOICE' | 'CUSTOMER';
  destinationId: string;
  paymentMethodType: 'CARD' | 'OFFLINE' | 'ACH' | 'UPI' | 'CREDITS' | 'PAYMENT_LINK';
  paymentMethodId: string | null;
  paymentGateway: string | null;
  amount: string;
  currency: string;
  processPayment: boolean;
  idempotencyKey: string | null;
  metadata: Record<string, string>;
  /** The names of the connected gateways. */
  gateways: readonly string[];
}

/** The payment, and what remains to be done with it: it waits in PENDING when it is to be processed. */
export interface RequestedPayment {
  id: string;
  toProcess: boolean;
  customerId: string;
  testClockId: string | null;
  at: string;
}

/**
 * Creates a payment of an invoice, or a charge of a customer's card without one: PENDING, or INITIATED when a gateway's payment is not
 * to be processed yet. Nothing is charged here. A key that was used returns its payment, unless that one failed. The checks come in the documented order;
 * what they refuse leaves nothing behind. spec: wallets-and-payments §2.19 Create checks, §3 rows 39 and 40
 */
export async function requestPayment(tx: PaymentTransaction, input: PaymentRequest): Promise<RequestedPayment> {
  const invoice = input.destinationType === 'INVOICE' ? await payableInvoice(tx, input.destinationId) : null;
  const destination = invoice ? invoiceAsDestination(invoice) : await customerAsDestination(tx, input);
  const at = await customerNow(tx, destination.customerId);
  const idempotencyKey = input.idempotencyKey ?? hashedKey(input);
  const before = await earlierPayment(tx, input.id, idempotencyKey);
  if (before) return requested(before, input.processPayment && before.payment_status === 'PENDING', at);
  if (invoice) await refuseGatedInvoice(tx, tx.scope, invoice.id, 'paid');
  if (invoice) await refuseBesideLink(tx, tx.scope, invoice.id);
  if (invoice) checkInvoice(invoice, input);
  if (invoice && input.paymentMethodType !== 'OFFLINE') await refuseBesideCharge(tx, invoice.id);
  const method = await methodOf(tx, destination.customerId, invoice, input);
  const payment = await insertPayment(tx, {
    id: input.id,
    idempotencyKey,
    destination,
    paymentMethodType: input.paymentMethodType,
    paymentMethodId: method?.id ?? null,
    paymentGateway: method?.gateway ?? null,
    amount: input.amount,
    paymentStatus: method?.gateway && !input.processPayment ? 'INITIATED' : 'PENDING',
    attended: true,
    isChargedAlready: false,
    metadata: input.metadata,
  });
  await writeEvents(tx, tx.scope, [paymentEvent('payment.created', payment, invoice?.invoice_number ?? null, at)]);
  await writeAudit(tx, tx.scope, [paymentAudit(payment, 'created', at, destinationDetail(payment))]);
  return requested(payment, input.processPayment, at);
}

/**
 * Takes up a pending payment. Money received outside a gateway is recorded at once, a wallet is debited at once; a card's payment becomes PROCESSING and
 * is then sent. One that is PROCESSING is taken up again and one that is settled stays as it is, so that a retried request
 * loses nothing and charges nothing. Throws `not_found`, and `invalid_operation` for an INITIATED one and while another charge of its invoice
 * is under way.
 * spec: wallets-and-payments §2.19 process, §3 row 41
 */
export async function startProcessing(
  tx: PaymentTransaction,
  input: { paymentId: string; at: string },
): Promise<RecordedPayment> {
  const { invoice, payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  refuseSessionPayment(payment, 'processed');
  const status = payment.payment_status;
  if (status === 'INITIATED') {
    throw refuse('invalid_operation', `payment ${payment.id} is INITIATED; only a PENDING payment is processed`, {
      payment_status: status,
    });
  }
  if (payment.payment_method_type === 'OFFLINE' && status === 'PENDING') {
    return recordPaymentOutcome(tx, { ...input, outcome: atOnce });
  }
  if (invoice && status === 'PENDING') await refuseBesideCharge(tx, invoice.id);
  if (payment.payment_method_type === 'CREDITS' && invoice && status === 'PENDING') {
    const reason = await takeFromWallet(tx, payment, invoice);
    const outcome = reason === null ? atOnce : { ...atOnce, status: 'declined' as const, reason };
    return recordPaymentOutcome(tx, { ...input, outcome });
  }
  if (status === 'PENDING' && payment.payment_method_id !== null) {
    await chargeableMethod(tx, payment.customer_id, payment.payment_method_id);
  }
  if (status === 'PENDING') await moveToProcessing(tx, payment, invoice?.invoice_number ?? null, input.at);
  return {
    paymentId: payment.id,
    paymentStatus: status === 'PENDING' ? 'PROCESSING' : status,
    invoiceId: invoice?.id ?? null,
    subscriptionId: invoice?.subscription_id ?? null,
    invoicePaid: false,
    awaitsGateway: !isPaymentSettled(status),
  };
}

/** Archives a payment that never moved money. Throws `not_found`, `invalid_operation`. spec: wallets-and-payments §3 row 44 */
export async function archivePayment(tx: PaymentTransaction, paymentId: string): Promise<void> {
  const { payment } = await lockPaymentWithInvoice(tx, paymentId);
  refuseSessionPayment(payment, 'deleted');
  if (payment.payment_status !== 'INITIATED' && payment.payment_status !== 'FAILED') {
    throw refuse(
      'invalid_operation',
      `payment ${paymentId} is ${payment.payment_status}; only INITIATED and FAILED payments can be deleted`,
      {
        payment_status: payment.payment_status,
      },
    );
  }
  await tx.rows(
    `update payment set status = 'archived', version = version + 1, updated_at = $2, updated_by = $3 where id = $1`,
    [paymentId, new Date().toISOString(), tx.scope.actor],
  );
  const at = await customerNow(tx, payment.customer_id);
  await writeAudit(tx, tx.scope, [paymentAudit({ ...payment, version: payment.version + 1 }, 'archived', at, {})]);
}

async function moveToProcessing(
  tx: PaymentTransaction,
  payment: PaymentRow,
  invoiceNumber: string | null,
  at: string,
): Promise<void> {
  assertPaymentMove(payment.payment_status, 'PROCESSING');
  const [moved] = await tx.rows<PaymentRow>(
    `update payment set payment_status = 'PROCESSING', version = version + 1, updated_at = $3, updated_by = $4
     where id = $1 and payment_status = $2 returning ${paymentColumns}`,
    [payment.id, payment.payment_status, new Date().toISOString(), tx.scope.actor],
  );
  if (!moved) throw new Error(`payment ${payment.id} changed under its lock`);
  // From here on somebody must ask the gateway, whatever becomes of the process that sends the charge.
  await writeUnansweredAgenda(tx, payment, at);
  await writeEvents(tx, tx.scope, [paymentEvent('payment.pending', moved, invoiceNumber, at)]);
  await writeAudit(tx, tx.scope, [paymentAudit(moved, 'processing', at, destinationDetail(moved))]);
}

async function payableInvoice(tx: PaymentTransaction, id: string): Promise<PayableInvoiceRow> {
  const invoice = await lockPayableInvoice(tx, tx.scope.environmentId, id);
  if (!invoice) throw missing('invoice', id, 'destination_id');
  return invoice;
}

/** A customer whose card is charged without an invoice, to verify it. spec: wallets-and-payments §1.5 destination_type */
async function customerAsDestination(tx: PaymentTransaction, input: PaymentRequest): Promise<PaymentDestination> {
  const { destinationId: id, paymentMethodType, currency } = input;
  const [row] = await tx.rows<{ test_clock_id: string | null }>(
    `select test_clock_id from customer where environment_id = $1 and id = $2 and status = 'published' for share`,
    [tx.scope.environmentId, id],
  );
  if (!row) throw missing('customer', id, 'destination_id');
  if (paymentMethodType === 'OFFLINE' || paymentMethodType === 'CREDITS') {
    throw badField(
      'payment_method_type',
      `must be CARD for destination_type CUSTOMER; ${paymentMethodType} pays invoices`,
    );
  }
  return { type: 'CUSTOMER', id, customerId: id, currency, testClockId: row.test_clock_id, purchaseId: null };
}

function checkInvoice(invoice: PayableInvoiceRow, input: PaymentRequest): void {
  if (invoice.invoice_status === 'VOIDED') throw notPayable(invoice, 'is voided');
  if (invoice.invoice_status !== 'FINALIZED') {
    throw notPayable(invoice, `is ${invoice.invoice_status}; only a finalized invoice can be paid`);
  }
  if (
    invoice.payment_status !== 'PENDING' &&
    invoice.payment_status !== 'FAILED' &&
    invoice.payment_status !== 'INITIATED'
  ) {
    throw notPayable(invoice, `is ${invoice.payment_status}; nothing is left to pay`);
  }
  if (invoice.currency !== input.currency) {
    throw badField('currency', `must be ${invoice.currency}, the currency of the invoice`);
  }
}

function notPayable(invoice: PayableInvoiceRow, problem: string) {
  return refuse('invalid_operation', `invoice ${invoice.id} ${problem}`, { invoice_id: invoice.id });
}

const offlineDecimals = 8;

/** The saved method of a card payment, or the wallet that pays; null for money received outside a gateway. spec: wallets-and-payments §1.5 payment_method_id */
async function methodOf(
  tx: PaymentTransaction,
  customerId: string,
  invoice: PayableInvoiceRow | null,
  input: PaymentRequest,
): Promise<{ id: string; gateway: string | null } | null> {
  const { paymentMethodType: type, paymentMethodId: id } = input;
  if (type === 'CREDITS' && invoice) {
    return { id: await walletToPayFrom(tx, invoice, { walletId: id, amount: input.amount }), gateway: null };
  }
  const decimals = type === 'OFFLINE' ? offlineDecimals : currencyPrecision(input.currency);
  if ((input.amount.split('.')[1] ?? '').length > decimals)
    throw badField('amount', `must have at most ${decimals} decimals`);
  if (type === 'OFFLINE') {
    if (id) throw badField('payment_method_id', 'must be absent for OFFLINE');
    return null;
  }
  if (type !== 'CARD') {
    if (!id) throw badField('payment_method_id', `is required for ${type}`);
    throw refuse('invalid_operation', `payment_method_type ${type} is not supported; CARD, CREDITS and OFFLINE are`);
  }
  const method = await chargeableMethod(tx, customerId, id);
  if (!method && id) throw missing('payment method', id, 'payment_method_id');
  if (!method) throw badField('payment_method_id', 'is required: the customer has no default payment method');
  refuseAboveMandate(method, input.amount);
  if (input.paymentGateway && input.paymentGateway !== method.gateway) {
    throw badField('payment_gateway', `must be ${method.gateway}, the gateway of the payment method`);
  }
  if (!input.gateways.includes(method.gateway)) {
    throw refuse('invalid_operation', `payment_gateway ${method.gateway} is not connected`);
  }
  return method;
}

/** The payment this request made at its first try, or one under the same key that did not fail. */
export async function earlierPayment(
  tx: PaymentTransaction,
  id: string,
  idempotencyKey: string,
): Promise<PaymentRow | null> {
  const [row] = await tx.rows<PaymentRow>(
    `select ${paymentColumns} from payment
     where environment_id = $1 and (id = $2 or (idempotency_key = $3 and status = 'published' and payment_status <> 'FAILED'))
     order by (id = $2) desc limit 1`,
    [tx.scope.environmentId, id, idempotencyKey],
  );
  return row ?? null;
}

function requested(row: PaymentRow, toProcess: boolean, at: string): RequestedPayment {
  return { id: row.id, toProcess, customerId: row.customer_id, testClockId: row.test_clock_id, at };
}

/** The key of a request without one. spec: wallets-and-payments §2.19 */
export function hashedKey(input: Omit<PaymentRequest, 'id' | 'gateways'>): string {
  const { destinationId, amount, currency, paymentMethodType, paymentMethodId, paymentGateway } = input;
  const parts = [destinationId, amount, currency, paymentMethodType, paymentMethodId, paymentGateway];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

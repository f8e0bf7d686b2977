import { type CheckoutAction, checkoutExpiry, isCheckoutActive } from '../../../billing/payment/checkout.ts';
import { refuse } from '../../../billing/refusal.ts';
import type { PlannedChange } from '../../../billing/subscription/planned-change.ts';
import { insertText, recordColumnTypes, writeRowsAndWait } from '../../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { badField } from '../../../db/rows/record.ts';
import { type ScopedSql, violatedUniqueIndex } from '../../../db/transaction.ts';
import { adoptPayment, insertLinkPayment } from '../../collection/checkout-payment.ts';
import {
  type CheckoutRow,
  checkoutAudit,
  checkoutColumns,
  writeCheckoutAgenda,
} from '../../collection/checkout-row.ts';
import { lockPayableInvoice } from '../../collection/payment-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { cartKey } from './cart-key.ts';
import { savedMethodFor } from './checkout-saved-method.ts';
import { hashOfToken } from './checkout-token.ts';

/** A session as its caller asks for it, whatever it is for. Shapes are checked. spec: wallets-and-payments §1.4 */
export interface CheckoutRequest {
  sessionId: string;
  provider: string;
  /** A provider of its own account, which knows real time and real money alone. */
  isConnected: boolean;
  /** `collection_method`, `payment_method`, `max_mandate_limit`. */
  providerConfig: Record<string, string>;
  /** True where a method has to be saved already, because the page that is paid on keeps none and what is bought is charged again. */
  needsSavedMethod?: boolean;
  successUrl: string | null;
  failureUrl: string | null;
  cancelUrl: string | null;
  idempotencyKey: string | null;
  metadata: Record<string, string>;
  /** Token of its page, and the origin under which the caller reached this installation. */
  pageToken: string;
  baseUrl: string;
  /** Address of the page of another session. */
  urlOf(session: { id: string; tokenHash: string; baseUrl: string; providerUrl: string | null }): string | null;
}

/** Content of a session: what is paid, for whom, and on which subject no second one may run. */
export interface CheckoutSubject {
  action: CheckoutAction;
  customerId: string;
  testClockId: string | null;
  /** The customer's present. */
  at: string;
  configuration: Record<string, unknown>;
  invoiceId: string;
  amount: string;
  currency: string;
  walletId?: string;
  subscriptionId?: string;
  purchaseId?: string;
  planned?: PlannedChange;
  /** It ends no later than this. */
  notAfter?: string;
  /** Key and metadata of its payment, where its caller gave any. */
  payment?: { idempotencyKey: string; metadata: Record<string, string> };
  /** The payment is there already, INITIATED. */
  isAdopted?: boolean;
}

const insertSession = insertText('checkout_session', {
  ...recordColumnTypes,
  idempotencyKey: 'text',
  tokenHash: 'text',
  pageToken: 'text',
  baseUrl: 'text',
  customerId: 'text',
  action: 'text',
  configuration: 'jsonb',
  paymentProvider: 'text',
  providerConfig: 'jsonb',
  amount: 'numeric',
  currency: 'text',
  checkoutInvoiceId: 'text',
  checkoutPaymentId: 'text',
  walletId: 'text',
  subscriptionId: 'text',
  purchaseId: 'text',
  planned: 'jsonb',
  successUrl: 'text',
  failureUrl: 'text',
  cancelUrl: 'text',
  openedAt: 'timestamptz',
  expiresAt: 'timestamptz',
  metadata: 'jsonb',
  testClockId: 'text',
});

/** The session of this id, where an earlier try of the same request made it. */
export async function findMade(tx: ScopedSql, sessionId: string): Promise<CheckoutRow | null> {
  const [row] = await tx.rows<CheckoutRow>(
    `select ${checkoutColumns} from checkout_session where environment_id = $1 and id = $2`,
    [tx.scope.environmentId, sessionId],
  );
  return row ?? null;
}

/**
 * Refuses (already_exists) what a running session has: its key, or its subject. Asked before anything is drafted; the unique keys of the
 * table decide between two at once. spec: wallets-and-payments §3 rows 13, 34; design: money-in-checkout §A14
 */
export async function refuseRunning(
  tx: ScopedSql,
  request: CheckoutRequest,
  subject: {
    key: string;
    walletId?: string | undefined;
    subscriptionId?: string | undefined;
    invoiceId?: string | null;
  },
): Promise<void> {
  const [row] = await tx.rows<RunningRow>(runningText, [
    tx.scope.environmentId,
    subject.key,
    subject.walletId ?? null,
    subject.subscriptionId ?? null,
    subject.invoiceId ?? null,
  ]);
  if (row) throw running(row, request);
}

/**
 * Writes a session with the payment it waits for, INITIATED, and its agenda. The invoice is there already, and the session belongs to
 * its customer, who may be another than the subscriber. Throws `already_exists` as `refuseRunning`, and `invalid_operation` for a
 * connected provider and a customer on a test clock, for a payer who is archived, and where a method has to be saved already and none is.
 * spec: wallets-and-payments §2.17; design: money-in-checkout §A12, §B17
 */
export async function insertCheckout(
  tx: ScopedSql,
  request: CheckoutRequest,
  subject: CheckoutSubject,
  paymentId: string,
): Promise<void> {
  const { sessionId } = request;
  refusePlayedTime(request, subject.testClockId);
  const key = request.idempotencyKey ?? cartKey(subject.customerId, subject.action, subject.configuration);
  const invoice = await lockPayableInvoice(tx, tx.scope.environmentId, subject.invoiceId);
  if (!invoice) throw new Error(`invoice ${subject.invoiceId} is gone inside the transaction of its session`);
  await keepPayer(tx, invoice.customer_id, request);
  await insertSessionRow(tx, request, { ...subject, customerId: invoice.customer_id }, { key, paymentId });
  const { amount, at, payment } = subject;
  const { provider, providerConfig } = request;
  if (subject.isAdopted) {
    refuseUnsaved(request);
    await adoptPayment(tx, { paymentId, sessionId, at });
  } else {
    const methodId = await savedMethodFor(tx, {
      customerId: invoice.customer_id,
      provider,
      providerConfig,
      amount,
      at,
    });
    if (methodId === null) refuseUnsaved(request);
    await insertLinkPayment(tx, { id: paymentId, provider, sessionId, invoice, amount, at, methodId, ...payment });
  }
  const row = (await findMade(tx, sessionId))!;
  await writeAudit(tx, tx.scope, [
    checkoutAudit(row, 'created', subject.at, { action: subject.action, invoice_id: invoice.id }),
  ]);
  await writeCheckoutAgenda(tx, row, subject.at);
}

/** Refuses (invalid_operation) what is charged again where its payer's method would not be kept. design: money-in-checkout §B12 */
function refuseUnsaved({ provider, needsSavedMethod }: CheckoutRequest): void {
  if (!needsSavedMethod) return;
  const problem = `${provider} keeps no method of a payment made so; save one first, by a setup intent, or choose send_invoice`;
  throw refuse('invalid_operation', `payment_provider ${problem}`, { fields: { payment_provider: problem } });
}

/** Refuses (invalid_operation) a provider of real money to a customer whose time is played. design: money-in-checkout §A12 */
export function refusePlayedTime({ provider, isConnected }: CheckoutRequest, testClockId: string | null): void {
  if (!isConnected || testClockId === null) return;
  const problem = `${provider} knows real time alone; a customer on a test clock pays at the sandbox`;
  throw refuse('invalid_operation', `payment_provider ${problem}`, { fields: { payment_provider: problem } });
}

/**
 * Keeps the payer from being archived while the session is written. Refuses (invalid_operation) one who is, and (validation_error) UPI for
 * one without a telephone number, without which no UPI mandate is made. design: money-in-checkout §B25
 */
export async function keepPayer(tx: ScopedSql, customerId: string, request: CheckoutRequest): Promise<void> {
  const [payer] = await tx.rows<{ status: string; contact: string | null }>(
    'select status, contact from customer where environment_id = $1 and id = $2 for share',
    [tx.scope.environmentId, customerId],
  );
  if (payer?.status === 'published') {
    if (request.providerConfig.payment_method !== 'UPI' || payer.contact) return;
    throw badField('contact', `must be the telephone number of customer ${customerId}, which payment_method UPI needs`);
  }
  throw refuse('invalid_operation', `customer ${customerId}, who is to pay, is ${payer?.status ?? 'unknown'}`);
}

/** Writes the row of a session; one in setup mode has neither invoice nor payment. Throws `already_exists` as `refuseRunning`. */
export async function insertSessionRow(
  tx: ScopedSql,
  request: CheckoutRequest,
  subject: Omit<CheckoutSubject, 'invoiceId'> & { invoiceId: string | null },
  { key, paymentId }: { key: string; paymentId: string | null },
): Promise<void> {
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = tx.scope;
  const row = {
    id: request.sessionId,
    tenantId,
    environmentId,
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    updatedBy: actor,
    idempotencyKey: key,
    tokenHash: hashOfToken(request.pageToken),
    pageToken: request.pageToken,
    baseUrl: request.baseUrl,
    customerId: subject.customerId,
    action: subject.action,
    configuration: subject.configuration,
    paymentProvider: request.provider,
    providerConfig: request.providerConfig,
    amount: subject.amount,
    currency: subject.currency,
    checkoutInvoiceId: subject.invoiceId,
    checkoutPaymentId: paymentId,
    walletId: subject.walletId ?? null,
    subscriptionId: subject.subscriptionId ?? null,
    purchaseId: subject.purchaseId ?? null,
    planned: subject.planned ?? null,
    successUrl: request.successUrl,
    failureUrl: request.failureUrl,
    cancelUrl: request.cancelUrl,
    openedAt: subject.at,
    expiresAt: checkoutExpiry(request.provider, subject.at, subject.notAfter ?? null),
    metadata: request.metadata,
    testClockId: subject.testClockId,
  };
  await tx.rows('savepoint new_checkout');
  try {
    await writeRowsAndWait(tx, insertSession, [row]);
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error;
    await tx.rows('rollback to savepoint new_checkout');
    const { walletId, subscriptionId, invoiceId } = subject;
    await refuseRunning(tx, request, { key, walletId, subscriptionId, invoiceId });
    throw error;
  }
}

interface RunningRow {
  id: string;
  checkout_status: string;
  expires_at: string;
  token_hash: string;
  base_url: string;
  provider_url: string | null;
  same_key: boolean;
  amount: string;
  [column: string]: unknown;
}

const runningText = `
select id, checkout_status, expires_at, token_hash, base_url, provider_url, amount, idempotency_key = $2 as same_key
from checkout_session where environment_id = $1 and status = 'published' and checkout_status in ('initiated', 'pending')
  and (idempotency_key = $2 or wallet_id = $3 or subscription_id = $4 or checkout_invoice_id = $5) order by same_key desc limit 1`;

function running(row: RunningRow, request: CheckoutRequest): Error {
  const { id } = row;
  const what = row.same_key ? 'was opened with the same key or for the same cart' : 'is open for the same subject';
  const url = request.urlOf({ id, tokenHash: row.token_hash, baseUrl: row.base_url, providerUrl: row.provider_url });
  return refuse('already_exists', `checkout session ${id} ${what}; pay it, cancel it, or wait until it expires`, {
    checkout_session: {
      id,
      checkout_session_id: id,
      status: row.checkout_status,
      amount: decimalText(row.amount),
      payment_action: url === null || !isCheckoutActive(row.checkout_status) ? null : { type: 'checkout_url', url },
      expires_at: instantText(row.expires_at),
    },
    ...(row.same_key ? { fields: { idempotency_key: 'taken by a running session' } } : {}),
  });
}

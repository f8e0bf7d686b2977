import { decimal } from '../../billing/money/money.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { invoiceEvents } from '../collection/invoice-event.ts';
import type { PaymentTransaction } from '../collection/payment-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { completePurchases } from '../topup/wallet-purchase.ts';
import { openRefunds } from './refund-plan.ts';

/** A locked invoice that has just been paid, with the purchase it bills. */
export interface PaidPurchase {
  id: string;
  purchase_id: string | null;
  customer_id: string;
  test_clock_id: string | null;
  currency: string;
  amount_paid: string;
  refunded_amount: string;
}

/**
 * Settles purchases whose invoices were paid, in the transaction that records the payment: the credits come, or, where the
 * purchase failed before, the money is marked as an orphan that a person may give back. Money of a wallet that was closed meanwhile
 * goes back to its source, and its invoice is voided: answers the refunds to send. spec: wallets-and-payments §2.6, README decision 40
 */
export async function settlePurchases(
  tx: PaymentTransaction,
  invoices: readonly PaidPurchase[],
  at: string,
): Promise<string[]> {
  const refundIds: string[] = [];
  const bought = invoices.filter((invoice) => invoice.purchase_id !== null);
  if (bought.length === 0) return refundIds;
  const outcomes = await completePurchases(
    tx,
    tx.scope,
    bought.map((invoice) => invoice.purchase_id!),
  );
  for (const invoice of bought) {
    const outcome = outcomes.get(invoice.purchase_id!);
    if (outcome === undefined || outcome === 'completed') continue;
    const isAutomatic = await isAutoTopup(tx, invoice.purchase_id!);
    await tx.rows(
      `update invoice set metadata = metadata || '{"orphan_payment": "true"}' where environment_id = $1 and id = $2`,
      [tx.scope.environmentId, invoice.id],
    );
    if (outcome === 'wallet_closed' || isAutomatic) refundIds.push(...(await giveBackAndVoid(tx, invoice, at)));
  }
  return refundIds;
}

/** Whether a purchase was an automatic top-up: money that comes after it failed goes back by itself, for nobody asked for it. */
async function isAutoTopup(tx: PaymentTransaction, purchaseId: string): Promise<boolean> {
  const rows = await tx.rows('select id from auto_topup_attempt where environment_id = $1 and purchase_id = $2', [
    tx.scope.environmentId,
    purchaseId,
  ]);
  return rows.length > 0;
}

/** A locked payment without an invoice whose money has just been captured. */
export interface DirectPurchase {
  id: string;
  purchase_id: string;
  customer_id: string;
  test_clock_id: string | null;
  payment_gateway: string | null;
  amount: string;
  currency: string;
}

/**
 * Completes the purchase of a payment without an invoice, in the transaction that records the capture. Where the purchase had failed or
 * its wallet was closed the money goes back to its source: answers the refunds to send. design: money-in-wallets findings 4, 6
 */
export async function settleDirectPurchase(
  tx: PaymentTransaction,
  payment: DirectPurchase,
  at: string,
): Promise<string[]> {
  const outcomes = await completePurchases(tx, tx.scope, [payment.purchase_id]);
  if (outcomes.get(payment.purchase_id) === 'completed') return [];
  return openRefunds(tx, {
    of: { paymentId: payment.id },
    customerId: payment.customer_id,
    testClockId: payment.test_clock_id,
    creditNoteId: null,
    amount: decimalText(payment.amount),
    currency: payment.currency,
    reason: 'OTHER',
    target: 'BACK_TO_SOURCE',
    refundableGateways: payment.payment_gateway === null ? [] : [payment.payment_gateway],
    at,
  });
}

/** The wallets of purchases, by purchase. */
export async function walletsOfPurchases(
  tx: PaymentTransaction,
  purchaseIds: readonly (string | null)[],
): Promise<Map<string, string>> {
  const ids = purchaseIds.filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await tx.rows<{ id: string; wallet_id: string }>(
    'select id, wallet_id from wallet_transaction where environment_id = $1 and id = any($2)',
    [tx.scope.environmentId, ids],
  );
  return new Map(rows.map((row) => [row.id, row.wallet_id]));
}

/** Plans the way back of all that was paid of an invoice: to the gateways it came through. Answers the refunds to send. */
export async function returnToSource(
  tx: PaymentTransaction,
  invoice: Omit<PaidPurchase, 'purchase_id' | 'amount_paid' | 'refunded_amount'>,
  amount: string,
  at: string,
): Promise<string[]> {
  const gateways = await tx.rows<{ payment_gateway: string }>(
    `select distinct payment_gateway from payment where environment_id = $1 and destination_id = $2 and payment_gateway is not null`,
    [tx.scope.environmentId, invoice.id],
  );
  return openRefunds(tx, {
    of: { invoiceId: invoice.id },
    customerId: invoice.customer_id,
    testClockId: invoice.test_clock_id,
    creditNoteId: null,
    amount,
    currency: invoice.currency,
    reason: 'OTHER',
    target: 'BACK_TO_SOURCE',
    refundableGateways: gateways.map((row) => row.payment_gateway),
    at,
  });
}

async function giveBackAndVoid(tx: PaymentTransaction, invoice: PaidPurchase, at: string): Promise<string[]> {
  const amount = decimal(decimalText(invoice.amount_paid)).minus(decimalText(invoice.refunded_amount));
  const refundIds = amount.greaterThan(0) ? await returnToSource(tx, invoice, amount.toFixed(), at) : [];
  const [row] = await tx.rows<{ version: number }>(
    `update invoice set invoice_status = 'VOIDED', voided_at = $3, payment_status = 'REFUNDED', refunded_amount = amount_paid,
       version = version + 1, updated_at = $4, updated_by = $5 where environment_id = $1 and id = $2 returning version`,
    [tx.scope.environmentId, invoice.id, at, new Date().toISOString(), tx.scope.actor],
  );
  await writeEvents(tx, tx.scope, invoiceEvents('invoice.update.voided', invoice.id, at));
  await writeAudit(tx, tx.scope, [
    { objectType: 'invoice', objectId: invoice.id, action: 'voided', version: row!.version, occurredAt: at },
  ]);
  return refundIds;
}

import type { PaymentStatus } from '../../billing/payment/payment.ts';
import type { WalletsFollow } from '../../billing/wallet/postpaid-payment.ts';
import { insertText, recordColumnTypes } from '../../db/rows/bulk.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { intentTokens, type PaymentIntent } from './payment-intent.ts';
import {
  destinationDetail,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from './payment-row.ts';
import { wireToken } from './wire-token.ts';

/** A payment as it is inserted. */
export interface PaymentToInsert extends PaymentIntent {
  idempotencyKey: string;
  paymentMethodType: string;
  paymentMethodId: string | null;
  amount: string;
  paymentStatus: PaymentStatus;
  /** True when the payment's own workflow will wait for the gateway from the start. */
  attended: boolean;
  metadata: Record<string, string>;
  /** Condition on which postpaid wallets pay the rest of the invoice. */
  walletsFollow?: WalletsFollow | null;
  /** Session that alone may settle the payment. */
  checkoutSessionId?: string;
}

/** Inserts one payment; see `insertPayments`. */
export async function insertPayment(tx: PaymentTransaction, input: PaymentToInsert): Promise<PaymentRow> {
  const [row] = await insertPayments(tx, [input]);
  return row!;
}

/** Inserts payments in one statement. */
export async function insertPayments(
  tx: PaymentTransaction,
  inputs: readonly PaymentToInsert[],
): Promise<PaymentRow[]> {
  if (inputs.length === 0) return [];
  const { tenantId, environmentId, actor } = tx.scope;
  const now = new Date().toISOString();
  const tokens = await intentTokens(tx, inputs);
  const rows = inputs.map(({ destination, isChargedAlready, ...payment }) => ({
    ...payment,
    tenantId,
    environmentId,
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    updatedBy: actor,
    destinationType: destination.type,
    destinationId: destination.id,
    purchaseId: destination.purchaseId,
    customerId: destination.customerId,
    intentToken: tokens.get(payment.id),
    gatewayTrackingId: payment.paymentGateway === null ? null : wireToken(tokens.get(payment.id)!),
    currency: destination.currency,
    trackAttempts: payment.paymentGateway !== null,
    testClockId: destination.testClockId,
  }));
  return tx.rows<PaymentRow>(insertPaymentsText, [JSON.stringify(rows)]);
}

/** A payment that is opened, and what its events say. */
export interface Opening {
  payment: PaymentToInsert;
  /** The customer's present. */
  at: string;
  invoiceNumber: string | null;
}

/** Inserts payments that wait for their gateways from the start, with their events and audit. */
export async function insertOpened(tx: PaymentTransaction, opening: readonly Opening[]): Promise<void> {
  const rows = new Map(
    (
      await insertPayments(
        tx,
        opening.map((one) => one.payment),
      )
    ).map((row) => [row.id, row]),
  );
  const written = opening.map(({ payment, at, invoiceNumber }) => ({ row: rows.get(payment.id)!, at, invoiceNumber }));
  const events = written.flatMap(({ row, invoiceNumber, at }) => [
    paymentEvent('payment.created', { ...row, payment_status: 'PENDING' }, invoiceNumber, at),
    paymentEvent('payment.pending', row, invoiceNumber, at),
  ]);
  await writeEvents(tx, tx.scope, events);
  await writeAudit(
    tx,
    tx.scope,
    written.map(({ row, at }) => paymentAudit(row, 'opened', at, destinationDetail(row))),
  );
}

const insertPaymentsText = insertText(
  'payment',
  {
    ...recordColumnTypes,
    idempotencyKey: 'text',
    destinationType: 'text',
    destinationId: 'text',
    walletsFollow: 'text',
    purchaseId: 'text',
    customerId: 'text',
    paymentMethodType: 'text',
    paymentMethodId: 'text',
    paymentGateway: 'text',
    intentToken: 'text',
    gatewayTrackingId: 'text',
    amount: 'numeric',
    currency: 'text',
    paymentStatus: 'text',
    trackAttempts: 'boolean',
    checkoutSessionId: 'text',
    attended: 'boolean',
    metadata: 'jsonb',
    testClockId: 'text',
  },
  `returning ${paymentColumns}`,
);

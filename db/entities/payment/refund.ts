import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** Money on its way back, to a gateway or to the prepaid wallet. spec: wallets-and-payments §1.6, §2.21 */
const schema = defineEntity({
  name: 'Refund',
  tableName: 'refund',
  properties: {
    ...recordColumns,
    /** Null when the money is attributed to no payment. */
    paymentId: p.text().nullable(),
    /** Null for money of a payment that paid no invoice. */
    invoiceId: p.text().nullable(),
    creditNoteId: p.text().nullable(),
    customerId: p.text(),
    paymentGateway: p.text().nullable(),
    gatewayRefundId: p.text().nullable(),
    gatewayTrackingId: p.text().nullable(),
    amount: numeric(),
    settledAmount: numeric().nullable(),
    currency: p.text(),
    refundStatus: p.text(),
    refundReason: p.text(),
    refundTarget: p.text(),
    refundDestination: p.text(),
    /** How many times it has failed; the token of the next try is made of it. */
    attempt: p.integer().default(0),
    idempotencyKey: p.text(),
    failureReason: p.text().nullable(),
    initiatedAt: instant().nullable(),
    /** Since when the gateway owes the answer of the present try. */
    sentAt: instant().nullable(),
    /** Real time at which the present try was first asked for; null until then. */
    requestedAt: instant().nullable(),
    succeededAt: instant().nullable(),
    failedAt: instant().nullable(),
    cancelledAt: instant().nullable(),
    metadata: metadata(),
    testClockId: p.text().nullable(),
    version: p.integer().default(1),
  },
  uniques: [{ properties: ['environmentId', 'idempotencyKey'] }],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'paymentId'] },
    { properties: ['environmentId', 'invoiceId'] },
    { properties: ['environmentId', 'creditNoteId'] },
    {
      name: 'refund_gateway_refund_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.paymentGateway}, ${c.gatewayRefundId}) where ${c.gatewayRefundId} is not null`,
    },
  ],
});
export class Refund extends schema.class {}
schema.setClass(Refund);

import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** Money asked for or received. `intentToken` is what the gateway knows this payment by. spec: wallets-and-payments §2.19 */
const schema = defineEntity({
  name: 'Payment',
  tableName: 'payment',
  properties: {
    ...recordColumns,
    idempotencyKey: p.text(),
    destinationType: p.text(),
    /** The invoice it pays, or its customer where it pays none. */
    destinationId: p.text(),
    /** The purchase of credits that a payment without an invoice pays. */
    purchaseId: p.text().nullable(),
    customerId: p.text(),
    paymentMethodType: p.text(),
    paymentMethodId: p.text().nullable(),
    paymentGateway: p.text().nullable(),
    /** The connection, and so the provider's account, that it was sent through; null where its gateway has none. */
    connectionId: p.text().nullable(),
    gatewayPaymentId: p.text().nullable(),
    /** Name of the payment on the wire. */
    gatewayTrackingId: p.text().nullable(),
    /** The charge prepared at the gateway, stored before it is confirmed. */
    providerObjectId: p.text().nullable(),
    gatewayMetadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    intentToken: p.text(),
    amount: numeric(),
    currency: p.text(),
    paymentStatus: p.text(),
    trackAttempts: p.boolean().default(true),
    /** Condition on which postpaid wallets pay the part that the card is not asked for: `on_success` of the card, or `in_any_case`; null when they do not. */
    walletsFollow: p.text().nullable(),
    /** True once the payment's own workflow waits for the gateway; until then whoever opened it does. */
    attended: p.boolean().default(false),
    paymentUrl: p.text().nullable(),
    /** Instant at which the gateway first said that the payer has to confirm, on the customer's clock; null when it does not have to. */
    awaitsPayerSince: instant().nullable(),
    errorMessage: p.text().nullable(),
    succeededAt: instant().nullable(),
    failedAt: instant().nullable(),
    refundedAt: instant().nullable(),
    voidedAt: instant().nullable(),
    /** True of money that came late, twice or not as asked: it pays nothing and goes back to its source. */
    unapplied: p.boolean().default(false),
    /** The payment that was made already when this money came. */
    duplicateOf: p.text().nullable(),
    /** The checkout session that made it and alone may move it while it is active. */
    checkoutSessionId: p.text().nullable(),
    metadata: metadata(),
    testClockId: p.text().nullable(),
    version: p.integer().default(1),
  },
  uniques: [
    { properties: ['environmentId', 'intentToken'] },
    {
      name: 'payment_purchase_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.purchaseId}) where ${c.purchaseId} is not null`,
    },
    {
      name: 'payment_gateway_charge_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.paymentGateway}, ${c.gatewayPaymentId}) where ${c.paymentGateway} is not null and ${c.gatewayPaymentId} is not null`,
    },
    {
      name: 'payment_idempotency_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey}) where ${c.paymentStatus} <> 'FAILED' and ${c.status} = 'published'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'destinationId'] },
    {
      name: 'payment_provider_object_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.paymentGateway}, ${c.providerObjectId}) where ${c.providerObjectId} is not null`,
    },
    {
      name: 'payment_charge_of_page_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.paymentGateway}, nullif(split_part(${c.gatewayPaymentId}, '/', 2), '')) where nullif(split_part(${c.gatewayPaymentId}, '/', 2), '') is not null`,
    },
  ],
});
export class Payment extends schema.class {}
schema.setClass(Payment);

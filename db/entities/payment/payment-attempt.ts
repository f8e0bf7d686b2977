import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** One definite answer of a gateway about a payment. spec: wallets-and-payments §2.19 process */
const schema = defineEntity({
  name: 'PaymentAttempt',
  tableName: 'payment_attempt',
  properties: {
    ...recordColumns,
    paymentId: p.text(),
    attemptNumber: p.integer(),
    paymentStatus: p.text(),
    gatewayAttemptId: p.text().nullable(),
    errorMessage: p.text().nullable(),
    metadata: metadata(),
  },
  uniques: [{ properties: ['environmentId', 'paymentId', 'attemptNumber'] }],
});
export class PaymentAttempt extends schema.class {}
schema.setClass(PaymentAttempt);

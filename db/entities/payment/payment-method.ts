import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A saved way to pay: the gateway's token and what may be shown of it, never a card number. spec: wallets-and-payments §1.5 */
const schema = defineEntity({
  name: 'PaymentMethod',
  tableName: 'payment_method',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    gateway: p.text(),
    gatewayToken: p.text(),
    /** The connection whose account keeps it; null where its gateway has none. */
    connectionId: p.text().nullable(),
    /** The gateway's own customer that the method belongs to; null where it needs none. */
    customerToken: p.text().nullable(),
    type: p.text().default('CARD'),
    /** `on_session` is charged with its payer there, and never automatically. */
    usage: p.text().default('off_session'),
    brand: p.text().default(''),
    lastFour: p.text().default(''),
    /** The card itself as its provider knows it, however often it was saved; null where the provider tells none. */
    fingerprint: p.text().nullable(),
    /** Most that its mandate lets be charged at once without the payer; null for no limit. */
    maxAmount: numeric().nullable(),
    isDefault: p.boolean().default(false),
    metadata: metadata(),
  },
  indexes: [{ properties: ['environmentId', 'customerId'] }],
});
export class PaymentMethod extends schema.class {}
schema.setClass(PaymentMethod);

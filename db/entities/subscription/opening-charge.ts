import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric } from '../../rows/columns.ts';

/**
 * What a gateway is asked for before a subscription exists, or a draft becomes active, with `error_if_incomplete`. It is there
 * before the question is sent, so that no captured money is without a row. `open` while that is under way; gone once the
 * payment of the opening invoice took its place or nothing was captured; `returned` when the captured money was given back,
 * `kept` when the gateway refused to give it back. The id is the payment's. spec: subscriptions-and-invoicing §2.3.4
 */
const schema = defineEntity({
  name: 'OpeningCharge',
  tableName: 'opening_charge',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    /** Of a creation it exists only after the payment. */
    subscriptionId: p.text(),
    customerId: p.text(),
    createdAt: instant(),
    createdBy: p.text().default(''),
    /** The customer's present when it was asked for. */
    at: instant(),
    paymentMethodId: p.text(),
    paymentGateway: p.text(),
    intentToken: p.text(),
    /** The charge prepared at the gateway, stored before it is confirmed. */
    providerObjectId: p.text().nullable(),
    amount: numeric(),
    currency: p.text(),
    chargeStatus: p.text().default('open'),
    testClockId: p.text().nullable(),
  },
  uniques: [
    {
      name: 'opening_charge_open_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}) where ${c.chargeStatus} = 'open'`,
    },
  ],
});
export class OpeningCharge extends schema.class {}
schema.setClass(OpeningCharge);

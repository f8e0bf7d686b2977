import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * What a change of a subscription gave back for its next invoices, a row a change; below zero where the rest of it went to the wallet
 * because the subscription had ended. What invoices used of it is on their lines. spec: README decision 50
 */
const schema = defineEntity({
  name: 'CarriedCredit',
  tableName: 'carried_credit',
  properties: {
    ...recordColumns,
    /** The subscription whose invoices use it: a child's is on its parent's. */
    subscriptionId: p.text(),
    customerId: p.text(),
    currency: p.text(),
    amount: numeric(),
    /** The change that gave it; null where it went to the wallet. */
    changeKey: p.text().nullable(),
    occurredAt: instant(),
  },
  uniques: [
    {
      name: 'carried_credit_change_unique',
      expression: (c, t, n) => `create unique index "${n}" on ${t} (${c.environmentId}, ${c.changeKey})`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }],
});
export class CarriedCredit extends schema.class {}
schema.setClass(CarriedCredit);

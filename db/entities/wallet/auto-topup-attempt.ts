import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * One automatic top-up: open until it has an outcome, and a wallet has one open at most. `ending` is why it is about to end without
 * credits. `card` is what limits of a card count by. Times are on the customer's clock. design: money-in §1; money-in-wallets finding 9
 */
const schema = defineEntity({
  name: 'AutoTopupAttempt',
  tableName: 'auto_topup_attempt',
  properties: {
    ...recordColumns,
    walletId: p.text(),
    customerId: p.text(),
    currency: p.text(),
    number: p.integer(),
    openedAt: instant(),
    credits: numeric(),
    amount: numeric(),
    card: p.text().nullable(),
    purchaseId: p.text(),
    invoiceId: p.text().nullable(),
    paymentId: p.text().nullable(),
    ending: p.text().nullable(),
    outcome: p.text().nullable(),
    endedAt: instant().nullable(),
    declineReason: p.text().nullable(),
    /** Meaning of the decline for another try with the same method. */
    declineClass: p.text().nullable(),
    /** Since when a declined charge waits for its payer, who has to pay the invoice in person; null for others. */
    needsActionSince: instant().nullable(),
    /** Money came after the decline, and went back. */
    lateCapture: p.boolean().default(false),
    askedToLapseAt: instant().nullable(),
    testClockId: p.text().nullable(),
  },
  uniques: [
    { properties: ['environmentId', 'walletId', 'number'] },
    { properties: ['environmentId', 'purchaseId'] },
    {
      name: 'auto_topup_attempt_open_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.walletId}) where ${c.outcome} is null`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'customerId', 'currency', 'openedAt'] },
    { properties: ['environmentId', 'card', 'openedAt'] },
    { properties: ['environmentId', 'paymentId'] },
    { properties: ['environmentId', 'createdAt', 'id'] },
  ],
});
export class AutoTopupAttempt extends schema.class {}
schema.setClass(AutoTopupAttempt);

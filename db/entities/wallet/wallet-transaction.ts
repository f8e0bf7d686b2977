import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** What a debit took from one lot. */
export interface ConsumedLot {
  id: string;
  credits: string;
}

/**
 * One entry of a wallet's ledger; a completed credit is a lot. `position` is the version it gave the wallet, `occurredAt` is on
 * the customer's clock. spec: wallets-and-payments §1.1, §2.3
 */
const schema = defineEntity({
  name: 'WalletTransaction',
  tableName: 'wallet_transaction',
  properties: {
    ...recordColumns,
    walletId: p.text(),
    customerId: p.text(),
    currency: p.text(),
    position: p.integer(),
    type: p.text(),
    creditAmount: numeric(),
    amount: numeric(),
    creditBalanceBefore: numeric(),
    creditBalanceAfter: numeric(),
    transactionStatus: p.text(),
    transactionReason: p.text(),
    referenceType: p.text(),
    referenceId: p.text(),
    creditsAvailable: numeric(),
    expiryDate: instant().nullable(),
    priority: p.integer().nullable(),
    paysFrom: instant().nullable(),
    /** Tax was paid on the credits when they were bought: what they pay is not taxed again. */
    isTaxed: p.boolean().default(false),
    parentTransactionId: p.text().nullable(),
    conversionRate: numeric().nullable(),
    topupConversionRate: numeric().nullable(),
    idempotencyKey: p.text(),
    description: p.text(),
    consumedLots: p.json<ConsumedLot[]>().nullable(),
    occurredAt: instant(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'wallet_transaction_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey}) where ${c.transactionStatus} <> 'failed'`,
    },
    { properties: ['walletId', 'position'] },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'referenceId'] },
    {
      name: 'wallet_transaction_pending_index',
      expression: (c, t, n) => `create index "${n}" on ${t} (${c.walletId}) where ${c.transactionStatus} = 'pending'`,
    },
    {
      name: 'wallet_transaction_bonus_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.parentTransactionId}) where ${c.parentTransactionId} is not null`,
    },
    {
      name: 'wallet_transaction_credit_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.walletId}, ${c.occurredAt}) include (${c.creditAmount}) where ${c.type} = 'credit' and ${c.transactionStatus} = 'completed'`,
    },
    {
      name: 'wallet_transaction_open_lot_index',
      expression: (c, t, n) => `create index "${n}" on ${t} (${c.walletId}) where ${c.creditsAvailable} > 0`,
    },
  ],
});
export class WalletTransaction extends schema.class {}
schema.setClass(WalletTransaction);

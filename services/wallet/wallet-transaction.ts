import { WalletTransaction } from '../../db/entities/wallet/wallet-transaction.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';

/** What a list of transactions can be narrowed by. spec: wallets-and-payments §1.1 Transaction filter */
export interface WalletTransactionFilters {
  id?: string | undefined;
  walletId?: string | undefined;
  customerId?: string | undefined;
  type?: string | undefined;
  transactionStatus?: string | undefined;
  transactionReason?: string | undefined;
  referenceType?: string | undefined;
  referenceId?: string | undefined;
  createdBy?: string | undefined;
  priority?: number | undefined;
  creditsAvailableAbove?: string | undefined;
  expiryDateBefore?: string | undefined;
  expiryDateAfter?: string | undefined;
}

const transactions: ListDefinition<WalletTransaction> = {
  entity: WalletTransaction,
  columns: {
    wallet_id: 'string',
    customer_id: 'string',
    currency: 'string',
    type: 'string',
    credit_amount: 'decimal',
    amount: 'decimal',
    credit_balance_before: 'decimal',
    credit_balance_after: 'decimal',
    transaction_status: 'string',
    transaction_reason: 'string',
    reference_type: 'string',
    reference_id: 'string',
    credits_available: 'decimal',
    expiry_date: 'date',
    priority: 'integer',
    parent_transaction_id: 'string',
    idempotency_key: 'string',
  },
};

/** One page of the ledger of one wallet, or of several. spec: wallets-and-payments §1.1 */
export function listWalletTransactions(
  tx: Transaction,
  query: ListQuery,
  filters: WalletTransactionFilters,
): Promise<ListPage<WalletTransaction>> {
  const { creditsAvailableAbove, expiryDateBefore, expiryDateAfter, ...equal } = filters;
  return listPage(tx, transactions, query, {
    ...Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined)),
    ...(creditsAvailableAbove === undefined ? {} : { creditsAvailable: { $gt: creditsAvailableAbove } }),
    ...(expiryDateBefore || expiryDateAfter
      ? {
          expiryDate: {
            ...(expiryDateBefore ? { $lt: expiryDateBefore } : {}),
            ...(expiryDateAfter ? { $gt: expiryDateAfter } : {}),
          },
        }
      : {}),
  });
}

/** One entry of a ledger. Throws `not_found`. */
export async function findWalletTransaction(tx: Transaction, id: string): Promise<WalletTransaction> {
  const row = await tx.em.findOne(WalletTransaction, { id, environmentId: tx.scope.environmentId });
  if (!row) throw missing('wallet transaction', id);
  return row;
}

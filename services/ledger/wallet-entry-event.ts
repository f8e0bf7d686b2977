import type { SettledTransactionEvent, WalletTransactionEvent } from '../platform/event-catalogue/wallet-events.ts';

/** Entry of a wallet's ledger as its events show it. */
export interface ToldEntry {
  id: string;
  walletId: string;
  customerId: string;
  type: 'credit' | 'debit';
  amount: string;
  creditAmount: string;
  creditBalanceBefore: string;
  creditBalanceAfter: string;
  currency: string;
  transactionStatus: string;
  transactionReason: string;
  referenceType: string;
  referenceId: string;
  description: string;
  /** Absent where nothing is said of an end. */
  expiryDate?: string | null | undefined;
  metadata: Record<string, string>;
  occurredAt: string;
}

/** Event of an entry that was made. */
export function entryEvent(entry: ToldEntry): WalletTransactionEvent {
  return {
    name: 'wallet.transaction.created',
    ...occurrenceOf(entry),
    payload: { transaction: toldTransaction(entry) },
  };
}

/** Event of an entry that was open and is settled. */
export function settledEntryEvent(entry: ToldEntry): SettledTransactionEvent {
  const transaction = toldTransaction(entry);
  const payload = { updated_transaction: transaction, transaction };
  return { name: 'wallet.transaction.updated', ...occurrenceOf(entry), payload };
}

function occurrenceOf({ id, occurredAt }: ToldEntry) {
  return { entityType: 'wallet_transaction', entityId: id, occurredAt } as const;
}

function toldTransaction(entry: ToldEntry): WalletTransactionEvent['payload']['transaction'] {
  return {
    id: entry.id,
    wallet_id: entry.walletId,
    customer_id: entry.customerId,
    type: entry.type,
    amount: entry.amount,
    credit_amount: entry.creditAmount,
    credit_balance_before: entry.creditBalanceBefore,
    credit_balance_after: entry.creditBalanceAfter,
    currency: entry.currency,
    transaction_status: entry.transactionStatus,
    transaction_reason: entry.transactionReason,
    reference_type: entry.referenceType,
    reference_id: entry.referenceId,
    description: entry.description,
    expiry_date: entry.expiryDate ?? null,
    metadata: entry.metadata,
  };
}

import type { WalletTransactionEvent } from '../platform/event-catalogue/wallet-events.ts';

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

/** Event of an entry: that it was made, or that it was settled. */
export function entryEvent(
  entry: ToldEntry,
  name: WalletTransactionEvent['name'] = 'wallet.transaction.created',
): WalletTransactionEvent {
  const transaction = {
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
  return {
    name,
    entityType: 'wallet_transaction',
    entityId: entry.id,
    payload: { transaction },
    occurredAt: entry.occurredAt,
  };
}

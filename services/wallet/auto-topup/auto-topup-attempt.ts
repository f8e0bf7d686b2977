import { AutoTopupAttempt } from '../../../db/entities/wallet/auto-topup-attempt.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import type { Transaction } from '../../../db/transaction.ts';

const attempts: ListDefinition<AutoTopupAttempt> = {
  entity: AutoTopupAttempt,
  columns: { number: 'integer', opened_at: 'date', outcome: 'string', amount: 'decimal', credits: 'decimal' },
};

/** One page of a wallet's automatic top-ups; `outcome` null for all. */
export function listAttempts(
  tx: Transaction,
  query: ListQuery,
  walletId: string,
  outcome: string | null,
): Promise<ListPage<AutoTopupAttempt>> {
  return listPage(tx, attempts, query, { walletId, ...(outcome === null ? {} : { outcome }) });
}

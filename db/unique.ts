import type { Transaction } from './transaction.ts';
import { violatedUniqueIndex } from './transaction.ts';

/**
 * Writes what the entity manager holds, and turns a unique violation into the refusal the store gives for its index. A
 * store calls it before it returns, because only the store knows what its indexes mean.
 *
 * Use as `await flushUnique(tx, { customer_external_id_unique: () => refuse('already_exists', '…') })`.
 */
export async function flushUnique(tx: Transaction, refusals: Record<string, () => Error>): Promise<void> {
  try {
    await tx.em.flush();
  } catch (error) {
    const refusal = refusals[violatedUniqueIndex(error) ?? ''];
    throw refusal ? refusal() : error;
  }
}

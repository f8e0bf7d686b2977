import type { Transaction } from './transaction.ts';
import { violatedUniqueIndex } from './transaction.ts';

/**
 * Writes what the entity manager holds, and turns a unique violation into the refusal the store gives for its index. A
 * store calls it before it returns, because only the store knows what its indexes mean. Until then nothing was written, so a
 * refusal may ask the transaction which record is in the way.
 *
 * Use as `await flushUnique(tx, { customer_external_id_unique: () => refuse('already_exists', '…') })`.
 */
export async function flushUnique(
  tx: Transaction,
  refusals: Record<string, () => Error | Promise<Error>>,
): Promise<void> {
  await tx.send('savepoint unique_flush');
  try {
    await tx.em.flush();
  } catch (error) {
    const refusal = refusals[violatedUniqueIndex(error) ?? ''];
    if (!refusal) throw error;
    await tx.rows('rollback to savepoint unique_flush');
    throw await refusal();
  }
  await tx.send('release savepoint unique_flush');
}

import type { ScopedSql } from '../../../db/transaction.ts';

/** Keeps others, until the transaction ends, from making webhook endpoints in this environment, and from forgetting its events. */
export async function lockEndpoints(tx: ScopedSql): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `webhook endpoints of ${tx.scope.environmentId}`,
  ]);
}

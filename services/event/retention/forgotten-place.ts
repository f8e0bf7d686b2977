import type { ScopedSql } from '../../../db/transaction.ts';

/** Place in the feed of the scope's environment up to which nothing is shown any more, because it was kept long enough; `0` for none. */
export async function forgottenPlace(tx: ScopedSql): Promise<string> {
  const [relay] = await tx.rows<{ place: string }>(
    'select forgotten_position::text as place from outbox_relay where environment_id = $1',
    [tx.scope.environmentId],
  );
  return relay?.place ?? '0';
}

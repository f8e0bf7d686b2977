import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** Numbers never change and are never given again, so what was found once stays true. */
const known = new Map<string, number>();

/** The short key of the scope's environment in the usage tables. Throws when the environment does not exist. */
export async function environmentNumber(sql: Sql, scope: Scope): Promise<number> {
  const cached = known.get(scope.environmentId);
  if (cached !== undefined) return cached;
  const [row] = await sql.rows<{ number: number }>(
    'select number from environment where id = $1',
    [scope.environmentId],
    'environment-number',
  );
  if (!row) throw new Error(`no environment ${scope.environmentId}`);
  return row.number;
}

/** Remembers a number that a committed transaction showed. */
export function rememberEnvironment(environmentId: string, number: number): void {
  known.set(environmentId, number);
}

import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/**
 * Whether a command was carried out on an object before: a step that was committed and whose answer got lost is asked again
 * with the same command id, which its audit entry keeps. The caller holds the object's lock. design: architecture §3
 */
export async function isCarriedOut(sql: Sql, scope: Scope, objectId: string, commandId: string): Promise<boolean> {
  const rows = await sql.rows(
    `select id from audit_entry where environment_id = $1 and object_id = $2 and detail ->> 'command_id' = $3 limit 1`,
    [scope.environmentId, objectId, commandId],
  );
  return rows.length > 0;
}

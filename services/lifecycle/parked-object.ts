import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';

export interface ParkedReference {
  objectType: string;
  objectId: string;
}

/** Records that an object stopped at a step and why; a person sees it and retries. design: architecture §3 */
export async function parkObject(
  sql: Sql,
  scope: Scope,
  parked: ParkedReference & { step: string; reason: string },
): Promise<void> {
  const now = new Date().toISOString();
  await sql.rows(
    `insert into parked_object (environment_id, tenant_id, object_type, object_id, step, reason, parked_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (environment_id, object_type, object_id) do update set step = excluded.step, reason = excluded.reason, parked_at = excluded.parked_at`,
    [scope.environmentId, scope.tenantId, parked.objectType, parked.objectId, parked.step, parked.reason, now],
  );
  await writeAudit(sql, scope, [
    { ...parked, action: 'parked', occurredAt: now, detail: { step: parked.step, reason: parked.reason } },
  ]);
}

/** Takes the mark away because somebody asked to try again. */
export async function unparkObject(sql: Sql, scope: Scope, parked: ParkedReference): Promise<void> {
  await sql.rows('delete from parked_object where environment_id = $1 and object_type = $2 and object_id = $3', [
    scope.environmentId,
    parked.objectType,
    parked.objectId,
  ]);
  await writeAudit(sql, scope, [{ ...parked, action: 'retried', occurredAt: new Date().toISOString() }]);
}

/** The step an object stopped at; null where it goes on. */
export async function parkedAt(sql: Sql, { environmentId }: Scope, parked: ParkedReference): Promise<string | null> {
  const [row] = await sql.rows<{ step: string }>(
    'select step from parked_object where environment_id = $1 and object_type = $2 and object_id = $3',
    [environmentId, parked.objectType, parked.objectId],
  );
  return row?.step ?? null;
}

/** The step an object stopped at, and why; null where it goes on. */
export async function parkedReason(
  sql: Sql,
  { environmentId }: Scope,
  parked: ParkedReference,
): Promise<{ step: string; reason: string } | null> {
  const [row] = await sql.rows<{ step: string; reason: string }>(
    'select step, reason from parked_object where environment_id = $1 and object_type = $2 and object_id = $3',
    [environmentId, parked.objectType, parked.objectId],
  );
  return row ?? null;
}

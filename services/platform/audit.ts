import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** One change of one object, in words of the domain: `subscription` `subs_…` `period closed`. */
export interface AuditRecord {
  objectType: string;
  objectId: string;
  action: string;
  version?: number | null;
  /** Instant of what happened, on the clock of the object. */
  occurredAt: string;
  detail?: Record<string, unknown>;
  /** Request that asked for it, where several share a transaction; else that of the scope. */
  requestId?: string | undefined;
}

/** Writes audit rows in the transaction of the change, one statement whatever their number. design: architecture §5 */
export async function writeAudit(sql: Sql, scope: Scope, records: readonly AuditRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql.send(
    `insert into audit_entry (tenant_id, environment_id, object_type, object_id, version, action, actor, request_id, occurred_at, recorded_at, detail)
     select $1, $2, t.object_type, t.object_id, t.version, t.action, $3, coalesce(t.request_id, $4), t.occurred_at, $5, t.detail
     from unnest($6::text[], $7::text[], $8::int[], $9::text[], $10::timestamptz[], $11::jsonb[], $12::text[])
       with ordinality as t(object_type, object_id, version, action, occurred_at, detail, request_id, ord)
     order by t.ord`,
    [
      scope.tenantId,
      scope.environmentId,
      scope.actor,
      scope.requestId,
      new Date().toISOString(),
      records.map((record) => record.objectType),
      records.map((record) => record.objectId),
      records.map((record) => record.version ?? null),
      records.map((record) => record.action),
      records.map((record) => record.occurredAt),
      records.map((record) => JSON.stringify(record.detail ?? {})),
      records.map((record) => record.requestId ?? null),
    ],
    'audit-write',
  );
}

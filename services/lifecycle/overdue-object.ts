import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { LifecycleKind } from '../../lifecycles/kinds.ts';
import { lifecycleTypesText } from './lifecycle-types.ts';

/** An object with steps that are due by its own present, its test clock's time or real time, and not done. */
export interface OverdueObject {
  objectType: LifecycleKind;
  objectId: string;
  customerId: string;
  testClockId: string | null;
  at: string;
  /** The kinds of the steps, oldest first. */
  steps: string[];
}

/** Which objects to look for; what is absent does not narrow. */
export interface OverdueFilter {
  objectType?: LifecycleKind;
  objectId?: string;
  step?: string;
  limit: number;
}

/**
 * What should have been done by now in an environment, oldest first, and how many objects that are. Parked objects wait for a
 * person and are left out. From the agenda alone, so that it is true also while workflows are away.
 * spec: subscriptions-and-invoicing §1.1 operator triggers
 */
export async function overdueObjects(
  sql: Sql,
  { environmentId }: Scope,
  { objectType, objectId, step, limit }: OverdueFilter,
): Promise<{ objects: OverdueObject[]; total: number }> {
  const rows = await sql.rows<OverdueRow>(
    `select a.object_type, a.object_id, a.customer_id, a.test_clock_id, coalesce(c.frozen_time, $2::timestamptz) as at,
       array_agg(a.kind order by a.due_at, a.kind) as steps, count(*) over () as total
     from agenda_entry a left join test_clock c on c.id = a.test_clock_id
     where a.environment_id = $1 and a.due_at <= coalesce(c.frozen_time, $2::timestamptz)
       and ($3::text is null or a.object_type = $3) and ($4::text is null or a.object_id = $4) and ($5::text is null or a.kind = $5)
       and a.object_type in (${lifecycleTypesText})
       and not exists (
         select 1 from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)
     group by a.object_type, a.object_id, a.customer_id, a.test_clock_id, c.frozen_time
     order by min(a.due_at), a.object_id limit $6`,
    [environmentId, realNow(), objectType ?? null, objectId ?? null, step ?? null, limit],
  );
  return { objects: rows.map(overdueObject), total: Number(rows[0]?.total ?? 0) };
}

interface OverdueRow {
  object_type: LifecycleKind;
  object_id: string;
  customer_id: string;
  test_clock_id: string | null;
  at: string;
  steps: string[];
  total: string;
  [column: string]: unknown;
}

function overdueObject(row: OverdueRow): OverdueObject {
  return {
    objectType: row.object_type,
    objectId: row.object_id,
    customerId: row.customer_id,
    testClockId: row.test_clock_id,
    at: instantText(row.at),
    steps: row.steps,
  };
}

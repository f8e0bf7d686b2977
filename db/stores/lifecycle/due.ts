import { instantText } from '../../columns.ts';
import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';

/** An object on a test clock that has something to do. */
export interface DueObject {
  objectType: string;
  objectId: string;
  customerId: string;
  dueAt: string;
}

/**
 * The objects of a clock whose first entry is the earliest of all, up to `until`: they act together at that instant. Parked
 * objects wait for a person and hold nobody up. design: architecture §4
 */
export async function nextDue(sql: Sql, scope: Scope, testClockId: string, until: string): Promise<DueObject[]> {
  const rows = await sql.rows<{ object_type: string; object_id: string; customer_id: string; due_at: string }>(
    `with due as (
       select a.object_type, a.object_id, a.customer_id, min(a.due_at) as due_at
       from agenda_entry a
       where a.environment_id = $1 and a.test_clock_id = $2 and a.due_at <= $3
         and not exists (select 1 from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)
       group by a.object_type, a.object_id, a.customer_id)
     select * from due where due_at = (select min(due_at) from due) order by object_id`,
    [scope.environmentId, testClockId, until],
    'due-on-clock',
  );
  return rows.map((row) => ({
    objectType: row.object_type,
    objectId: row.object_id,
    customerId: row.customer_id,
    dueAt: instantText(row.due_at),
  }));
}

import { instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { lifecycleTypesText } from './lifecycle-types.ts';
import { parkedAt } from './parked-object.ts';

/** One step of the billing run: what is to be done, or was done, to which object. */
export interface RunStep {
  objectType: string;
  objectId: string;
  customerId: string | null;
  testClockId: string | null;
  step: string;
  at: string;
  reason: string | null;
}

export interface RunSection {
  total: number;
  steps: RunStep[];
}

export interface BillingRun {
  due: RunSection;
  waiting: RunSection;
  parked: RunSection;
  done: RunSection;
}

interface StepRow {
  object_type: string;
  object_id: string;
  customer_id: string | null;
  test_clock_id: string | null;
  step: string;
  at: string;
  reason: string | null;
  total: string;
  [column: string]: unknown;
}

// Without an instant asked for, each object is judged by its own present: its test clock's time, or real time.
const ofAgenda = `select a.object_type, a.object_id, a.customer_id, a.test_clock_id, a.kind as step, a.due_at as at, null as reason, count(*) over () as total
  from agenda_entry a left join test_clock c on c.id = a.test_clock_id
  where a.environment_id = $1 and not exists (
    select 1 from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)`;
const present = 'coalesce($2::timestamptz, c.frozen_time, $3::timestamptz)';

/**
 * The billing run around an instant: what is due by then and not done, what waits for later, what was done since `since`, and
 * what is parked with the reason. From rows alone, so that it tells the truth also while workflows are away.
 */
export async function readBillingRun(
  sql: Sql,
  scope: Scope,
  window: { asked: string | null; at: string; since: string; limit: number },
): Promise<BillingRun> {
  const { environmentId } = scope;
  const asked = [environmentId, window.asked, window.at, window.limit];
  const due = await section(
    sql,
    `${ofAgenda} and a.due_at <= ${present} order by a.due_at, a.object_id limit $4`,
    asked,
  );
  const waiting = await section(
    sql,
    `${ofAgenda} and a.due_at > ${present} order by a.due_at, a.object_id limit $4`,
    asked,
  );
  const parked = await section(
    sql,
    `select object_type, object_id, null as customer_id, null as test_clock_id, step, parked_at as at, reason, count(*) over () as total
     from parked_object where environment_id = $1 order by parked_at, object_id limit $2`,
    [environmentId, window.limit],
  );
  const done = await section(
    sql,
    `select object_type, object_id, null as customer_id, null as test_clock_id, action as step, occurred_at as at, null as reason, count(*) over () as total
     from audit_entry where environment_id = $1 and object_type in (${lifecycleTypesText}) and occurred_at > $2 and occurred_at <= $3
     order by occurred_at desc, id desc limit $4`,
    [environmentId, window.since, window.at, window.limit],
  );
  return { due, waiting, parked, done };
}

async function section(sql: Sql, text: string, values: readonly unknown[]): Promise<RunSection> {
  const rows = await sql.rows<StepRow>(text, values);
  return {
    total: Number(rows[0]?.total ?? 0),
    steps: rows.map((row) => ({
      objectType: row.object_type,
      objectId: row.object_id,
      customerId: row.customer_id,
      testClockId: row.test_clock_id,
      step: row.step,
      at: instantText(row.at),
      reason: row.reason,
    })),
  };
}

/** The step a parked object stopped at. Throws `not_found` when it is not parked. */
export async function parkedStep(sql: Sql, scope: Scope, objectType: string, objectId: string): Promise<string> {
  const step = await parkedAt(sql, scope, { objectType, objectId });
  if (step === null) throw missing(`parked ${objectType}`, objectId, 'object_id');
  return step;
}

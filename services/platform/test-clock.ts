import { refuse } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import { instantText } from '../../db/rows/columns.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';

/** A test clock: `targetTime` is set while it advances. design: architecture §4 */
export interface TestClockRow {
  id: string;
  tenantId: string;
  environmentId: string;
  name: string;
  frozenTime: string;
  targetTime: string | null;
  status: string;
  createdAt: string;
  updatedAt: string;
}

interface RawTestClock {
  id: string;
  tenant_id: string;
  environment_id: string;
  name: string;
  frozen_time: string;
  target_time: string | null;
  status: string;
  created_at: string;
  updated_at: string;
  [column: string]: unknown;
}

const columns = 'id, tenant_id, environment_id, name, frozen_time, target_time, status, created_at, updated_at';

/** Creates a clock that shows `frozenTime`. */
export async function createTestClock(
  sql: Sql,
  scope: Scope,
  input: { name: string; frozenTime: string; id?: string },
): Promise<TestClockRow> {
  const now = new Date().toISOString();
  await tellWriters(sql, scope);
  const [row] = await sql.rows<RawTestClock>(
    `insert into test_clock (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, name, frozen_time)
     values ($1, $2, $3, $4, $5, $4, $5, $6, $7) returning ${columns}`,
    [input.id ?? newId('clock'), scope.tenantId, scope.environmentId, now, scope.actor, input.name, input.frozenTime],
  );
  const clock = fromRaw(row as RawTestClock);
  await audit(sql, scope, clock, 'created', { frozen_time: clock.frozenTime });
  return clock;
}

/** From the first clock of an environment on, whoever stores usage asks by which clock its customers live. */
async function tellWriters(sql: Sql, scope: Scope): Promise<void> {
  await sql.rows(
    'select usage.raise_catalogue_version($1) where not exists (select from test_clock where environment_id = $1)',
    [scope.environmentId],
  );
}

/** Reads a clock. Throws `not_found`. */
export async function readTestClock(sql: Sql, scope: Scope, id: string): Promise<TestClockRow> {
  const [row] = await sql.rows<RawTestClock>(
    `select ${columns} from test_clock where environment_id = $1 and id = $2 and status = 'published'`,
    [scope.environmentId, id],
    'test-clock',
  );
  if (!row) throw missing('test clock', id);
  return fromRaw(row);
}

/** The environment's clocks, newest first, and how many there are. */
export async function listTestClocks(
  sql: Sql,
  scope: Scope,
  page: { limit: number; offset: number },
): Promise<{ items: TestClockRow[]; total: number }> {
  const rows = await sql.rows<RawTestClock>(
    `select ${columns} from test_clock where environment_id = $1 and status = 'published' order by created_at desc, id desc limit $2 offset $3`,
    [scope.environmentId, page.limit, page.offset],
  );
  const [count] = await sql.rows<{ total: string }>(
    `select count(*) as total from test_clock where environment_id = $1 and status = 'published'`,
    [scope.environmentId],
  );
  return { items: rows.map(fromRaw), total: Number(count?.total ?? 0) };
}

/**
 * Sets the target of an advance. A clock never goes back (400), and one that moves takes no second target (409 naming the
 * running one); the same target again is the same advance.
 */
export async function beginAdvance(
  sql: Sql,
  scope: Scope,
  input: { id: string; to: string },
): Promise<{ frozenTime: string; targetTime: string }> {
  const clock = await lock(sql, scope, input.id);
  if (clock.targetTime === input.to) return { frozenTime: clock.frozenTime, targetTime: input.to };
  if (clock.targetTime !== null) {
    throw refuse(
      'already_exists',
      `the clock is already advancing to ${clock.targetTime}; wait until it shows that time`,
      {
        target_time: clock.targetTime,
      },
    );
  }
  if (input.to < clock.frozenTime)
    throw badField('to', `must not be before the clock's time ${clock.frozenTime}: a clock never goes back`);
  await sql.rows(
    'update test_clock set target_time = $3, advance_started_at = $4, updated_at = $4, updated_by = $5 where environment_id = $1 and id = $2',
    [scope.environmentId, clock.id, input.to, new Date().toISOString(), scope.actor],
  );
  await audit(sql, scope, clock, 'advance begun', { to: input.to });
  return { frozenTime: clock.frozenTime, targetTime: input.to };
}

/** Shows a later time on the clock; the target stays. */
export async function moveClock(sql: Sql, scope: Scope, id: string, to: string): Promise<void> {
  await sql.rows(
    'update test_clock set frozen_time = greatest(frozen_time, $3), updated_at = $4 where environment_id = $1 and id = $2',
    [scope.environmentId, id, to, new Date().toISOString()],
  );
}

/** The advance is over: the clock shows its target. */
export async function endAdvance(sql: Sql, scope: Scope, id: string): Promise<void> {
  const clock = await lock(sql, scope, id);
  if (clock.targetTime === null) return;
  await sql.rows(
    'update test_clock set frozen_time = target_time, target_time = null, updated_at = $3 where environment_id = $1 and id = $2',
    [scope.environmentId, id, new Date().toISOString()],
  );
  await audit(sql, scope, clock, 'advance ended', { frozen_time: clock.targetTime });
}

/** Removes a clock nobody lives on any more: refused while a customer of it has a subscription that is not cancelled. */
export async function deleteTestClock(sql: Sql, scope: Scope, id: string): Promise<void> {
  const clock = await lock(sql, scope, id);
  if (clock.targetTime !== null)
    throw refuse('invalid_operation', `the clock is advancing to ${clock.targetTime}; wait until it shows that time`);
  const [live] = await sql.rows<{ id: string }>(
    `select id from subscription where environment_id = $1 and test_clock_id = $2 and status = 'published' and subscription_status <> 'cancelled' limit 1`,
    [scope.environmentId, id],
  );
  if (live)
    throw refuse('invalid_operation', `subscription ${live.id} lives on this clock; cancel it first`, {
      subscription_id: live.id,
    });
  await sql.rows(
    `update test_clock set status = 'archived', updated_at = $3, updated_by = $4 where environment_id = $1 and id = $2`,
    [scope.environmentId, id, new Date().toISOString(), scope.actor],
  );
  await audit(sql, scope, clock, 'deleted', {});
}

async function lock(sql: Sql, scope: Scope, id: string): Promise<TestClockRow> {
  const [row] = await sql.rows<RawTestClock>(
    `select ${columns} from test_clock where environment_id = $1 and id = $2 and status = 'published' for update`,
    [scope.environmentId, id],
    'test-clock-locked',
  );
  if (!row) throw missing('test clock', id);
  return fromRaw(row);
}

async function audit(
  sql: Sql,
  scope: Scope,
  clock: TestClockRow,
  action: string,
  detail: Record<string, unknown>,
): Promise<void> {
  await writeAudit(sql, scope, [
    { objectType: 'test_clock', objectId: clock.id, action, occurredAt: clock.frozenTime, detail },
  ]);
}

function fromRaw(row: RawTestClock): TestClockRow {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    environmentId: row.environment_id,
    name: row.name,
    frozenTime: instantText(row.frozen_time),
    targetTime: row.target_time ? instantText(row.target_time) : null,
    status: row.status,
    createdAt: instantText(row.created_at),
    updatedAt: instantText(row.updated_at),
  };
}

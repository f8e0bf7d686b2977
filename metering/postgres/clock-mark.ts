import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { environmentNumber } from './environment-number.ts';

/** True where something looks at usage of the environment. */
export async function isWatched(sql: Sql, scope: Scope): Promise<boolean> {
  const rows = await sql.rows(
    'select 1 from usage.watched_environment u join environment e on e.number = u.env where e.id = $1',
    [scope.environmentId],
    'environment-is-watched',
  );
  return rows.length > 0;
}

/** The first instant on a clock, up to `until`, at which usage of its customers begins to count; null when there is none. */
export async function firstDated(sql: Sql, scope: Scope, testClockId: string, until: string): Promise<string | null> {
  const [row] = await sql.rows<{ at: string | null }>(
    'select min(due_at) as at from usage.dated_mark where env = $1 and clock = $2 and due_at <= $3',
    [await environmentNumber(sql, scope), testClockId, until],
  );
  return row?.at ? instantText(row.at) : null;
}

/** Marks every customer of a test clock, whose present has moved. False where nothing watches. */
export async function markCustomersOfClock(sql: Sql, scope: Scope, testClockId: string): Promise<boolean> {
  const rows = await sql.rows(
    `insert into usage.mark as m (env, subject, moved, due_at)
     select s.env, s.number, 1, now() from customer c join usage.subject s on s.env = $1 and s.external_id = c.external_id
       and s.holder is null
     where c.environment_id = $2 and c.test_clock_id = $3 and exists (select 1 from usage.watched_environment where env = $1)
     order by 2
     on conflict (env, subject) do update set generation = m.generation + 1, moved = m.generation + 1, due_at = least(m.due_at, now())
     returning subject`,
    [await environmentNumber(sql, scope), scope.environmentId, testClockId],
  );
  return rows.length > 0;
}

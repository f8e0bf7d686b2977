import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { plainArray } from './array-text.ts';
import { environmentNumber } from './environment-number.ts';

/**
 * Marks the customers of events, in the transaction that stores them: to be looked at now, and for an event dated ahead again
 * in the minute after it. Sorted by key, as everything a writer writes. design: usage.md Writing
 */
export async function markCustomers(
  sql: Sql,
  env: number,
  events: readonly { subject: string; timestamp: string | null }[],
): Promise<void> {
  await sql.rows(markText, [
    env,
    plainArray(events.map(({ subject }) => subject)),
    plainArray(events.map(({ timestamp }) => timestamp)),
  ]);
}

const markText = `
insert into usage.dirty_customer as dirty (env, subject, due_at)
select distinct $1::int, e.subject, due.at from unnest($2::bigint[], $3::timestamptz[]) as e(subject, ts)
cross join lateral (
  select '-infinity'::timestamptz as at
  union all select date_trunc('minute', e.ts, 'UTC') + interval '1 minute' where e.ts > now()) as due
order by 1, 2, 3
on conflict (env, subject, due_at) do update set generation = dirty.generation + 1`;

/** Marks every customer of a test clock, whose present has moved. False where nothing watches. */
export async function markCustomersOfClock(sql: Sql, scope: Scope, testClockId: string): Promise<boolean> {
  const rows = await sql.rows(
    `insert into usage.dirty_customer as dirty (env, subject, due_at)
     select s.env, s.number, '-infinity' from customer c join usage.subject s on s.env = $1 and s.external_id = c.external_id
       and s.holder is null
     where c.environment_id = $2 and c.test_clock_id = $3 and exists (select 1 from usage.watched_environment where env = $1)
     order by 1, 2
     on conflict (env, subject, due_at) do update set generation = dirty.generation + 1 returning subject`,
    [await environmentNumber(sql, scope), scope.environmentId, testClockId],
  );
  return rows.length > 0;
}

/** A mark that is due, and whose customer it is; null where the external id belongs to nobody. */
export interface DirtyMark {
  readonly subject: string;
  readonly dueAt: string;
  readonly generation: string;
  readonly customerId: string | null;
}

/** The marks that are due, the longest due first. */
export async function dueMarks(sql: Sql, scope: Scope, limit: number): Promise<DirtyMark[]> {
  const rows = await sql.rows<{ subject: string; due_at: string; generation: string; customer_id: string | null }>(
    `select d.subject::text as subject, d.due_at::text as due_at, d.generation::text as generation, c.id as customer_id
     from usage.dirty_customer d join usage.subject s on s.number = d.subject
     left join customer c on c.environment_id = $2
       and case when s.holder is null then c.external_id = s.external_id and c.status = 'published' else c.number = s.holder end
     where d.env = $1 and d.due_at <= now() order by d.due_at, d.subject limit $3`,
    [await environmentNumber(sql, scope), scope.environmentId, limit],
  );
  return rows.map((row) => ({
    subject: row.subject,
    dueAt: row.due_at,
    generation: row.generation,
    customerId: row.customer_id,
  }));
}

/** Environments with customers that are to be looked at now. */
export function environmentsWithDueMarks(sql: Sql): Promise<{ tenantId: string; environmentId: string }[]> {
  return sql.rows(
    `select e.tenant_id as "tenantId", e.id as "environmentId" from usage.watched_environment w join environment e on e.number = w.env
     where exists (select from usage.dirty_customer d where d.env = w.env and d.due_at <= now()) order by e.id`,
  );
}

/**
 * Takes marks away that were looked at; one that was set again meanwhile stays. Customers to be looked at again are marked for then.
 * Answers when the next mark is due, null when there is none.
 */
export async function settleMarks(
  sql: Sql,
  scope: Scope,
  marks: readonly DirtyMark[],
  again: readonly { customerId: string; at: string }[],
): Promise<string | null> {
  const env = await environmentNumber(sql, scope);
  await sql.rows(
    `delete from usage.dirty_customer d using unnest($2::bigint[], $3::timestamptz[], $4::bigint[]) as m(subject, due_at, generation)
     where d.env = $1 and d.subject = m.subject and d.due_at = m.due_at and d.generation = m.generation`,
    [
      env,
      marks.map(({ subject }) => subject),
      marks.map(({ dueAt }) => dueAt),
      marks.map(({ generation }) => generation),
    ],
  );
  for (const [at, customers] of Map.groupBy(again, ({ at }) => at)) {
    await sql.rows('select usage.mark_customers($1, $2, $3)', [
      scope.environmentId,
      customers.map(({ customerId }) => customerId),
      at,
    ]);
  }
  const [next] = await sql.rows<{ at: string | null }>(
    `select to_char(greatest(due_at, '1970-01-01Z') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from usage.dirty_customer where env = $1 order by due_at limit 1`,
    [env],
  );
  return next?.at ?? null;
}

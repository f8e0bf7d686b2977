import type { Sql } from '../../db/transaction.ts';
import type { PreparedEvent } from '../event.ts';
import { plainArray } from './text/array-text.ts';

/** Usage of a subject to be marked. */
export interface GivenMark {
  readonly subject: string;
  /** Most that the usage can cost, as a decimal. */
  readonly spent: string;
  /** True where nothing bounds it, so that it is looked at as soon as may be. */
  readonly isUnbounded: boolean;
  /** True where the process may hold back the next marks of the subject. */
  readonly isHot: boolean;
}

/** State of a subject's marks, and of those who answer for it. */
export interface KeptMark {
  readonly subject: string;
  /** What may still be spent before somebody looks, as a decimal or `Infinity`. */
  readonly rest: string;
  readonly dueAt: string;
}

/**
 * Marks subjects, and all who answer for their usage, in the transaction that stores it: the last statement, in the order of its
 * keys. Looked at at once where that is a minute ago, or a second ago with everything spent that may be; otherwise when
 * the minute is over. design: money-in §1 The trigger
 */
export async function markSubjects(sql: Sql, env: number, given: readonly GivenMark[]): Promise<KeptMark[]> {
  if (given.length === 0) return [];
  const rows = await sql.rows<{ subject: string; rest: string; due_at: string }>(markText, [
    env,
    plainArray(given.map(({ subject }) => subject)),
    plainArray(given.map(({ spent }) => spent)),
    plainArray(given.map(({ isUnbounded }) => isUnbounded)),
    plainArray(given.map(({ isHot }) => isHot)),
  ]);
  return rows.map((row) => ({ subject: row.subject, rest: row.rest, dueAt: row.due_at }));
}

const markText = `
with given as materialized (
  select * from unnest($2::bigint[], $3::numeric[], $4::boolean[], $5::boolean[]) as g(asked, spent, unbounded, hot)
), answering as materialized (
  select asked, asked as subject, spent, unbounded, hot from given
  union all
  select g.asked, p.payer, g.spent, g.unbounded, g.hot from given g join usage.payer p on p.env = $1 and p.subject = g.asked
), marked as (
  insert into usage.mark as m (env, subject, spent, moved, hot_until, due_at)
  select $1, subject, sum(spent), max(unbounded::int), case when bool_or(hot) then now() + interval '2 seconds' else '-infinity' end, now()
  from answering group by subject order by subject
  on conflict (env, subject) do update set generation = m.generation + 1, spent = m.spent + excluded.spent,
    moved = case when excluded.moved = 1 then m.generation + 1 else m.moved end,
    hot_until = greatest(m.hot_until, excluded.hot_until),
    due_at = least(m.due_at, greatest(now(), m.looked_at
      + case when excluded.moved = 1 or m.spent + excluded.spent >= m.look_at then interval '1 second' else interval '60 seconds' end))
  returning subject, look_at - spent as rest, due_at
)
select a.asked::text as subject, min(m.rest)::text as rest, min(m.due_at)::text as due_at
from answering a join marked m using (subject) group by a.asked`;

/**
 * Dates marks of usage that begins to count later: in real time in the minute after it, on a test clock in the hour after it. Before
 * the marks of now, as whoever takes dated ones up does it. Sorted by key.
 */
export async function dateMarks(
  sql: Sql,
  { env, environmentId }: { env: number; environmentId: string },
  events: readonly { subject: string; timestamp: string }[],
): Promise<void> {
  if (events.length === 0) return;
  await sql.rows(dateText, [
    env,
    environmentId,
    plainArray(events.map(({ subject }) => subject)),
    plainArray(events.map(({ timestamp }) => timestamp)),
  ]);
}

const dateText = `
with sent as materialized (
  select subject, date_trunc('minute', ts, 'UTC') as minute, max(ts) as ts from unnest($3::bigint[], $4::timestamptz[]) as e(subject, ts)
  group by 1, 2
), clocked as materialized (
  select s.number as subject, k.id as clock, k.frozen_time from usage.subject s
  join customer c on c.environment_id = $2 and c.external_id = s.external_id and c.status = 'published' and s.holder is null
  join test_clock k on k.id = c.test_clock_id where s.number in (select subject from sent)
), dated as (
  select s.subject, coalesce(k.clock, '') as clock, case when k.clock is null then s.minute + interval '1 minute'
    else date_trunc('hour', s.minute, 'UTC') + interval '1 hour' end as due_at
  from sent s left join clocked k using (subject) where s.ts > coalesce(k.frozen_time, now())
)
insert into usage.dated_mark (env, clock, due_at, subject)
select distinct $1::int, d.clock, d.due_at, a.subject from dated d
cross join lateral (select d.subject union all select p.payer from usage.payer p where p.env = $1 and p.subject = d.subject) as a(subject)
order by 2, 3, 4 on conflict do nothing`;

/** The events that may begin to count later: those dated ahead, and where customers live by test clocks all that say their time. */
export function laterEvents(events: readonly PreparedEvent[], hasTestClocks: boolean): readonly PreparedEvent[] {
  const now = new Date().toISOString();
  return events.filter(({ timestamp }) => timestamp !== null && (hasTestClocks || timestamp > now));
}

/** Most that a unit of each meter can cost, as decimals, by its number; `Infinity` where nothing bounds it. */
export async function meterCeilings(sql: Sql, env: number): Promise<Map<number, string>> {
  const rows = await sql.rows<{ meter: number; ceiling: string }>(
    'select meter, max(ceiling)::text as ceiling from usage.meter_ceiling where env = $1 group by meter',
    [env],
  );
  return new Map(rows.map((row) => [row.meter, row.ceiling]));
}

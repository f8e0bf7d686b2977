import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { environmentNumber } from './environment-number.ts';
import { holderOfSubject } from './subject-holder.ts';

/** Whose marks are looked at: those of customers in real time, or on clocks that stand; or those on a clock that moves, while it moves. */
export type MarkTime = { readonly clock: string } | 'now';

const clockOf = (time: MarkTime): string => (time === 'now' ? '' : time.clock);

/** A mark that an evaluator has not looked at yet, and whose customer it is; null where the external id belongs to nobody. */
export interface DueMark {
  readonly subject: string;
  readonly generation: string;
  readonly spent: string;
  readonly customerId: string | null;
  /** A writer may still hold back what belongs to it. */
  readonly isHot: boolean;
  /** Lives on a test clock, which is never made to wait. */
  readonly isOnClock: boolean;
  readonly readAt: string;
}

// Of a mark and the look of an evaluator at it: something is new, and it is due, because it moved without usage, because as much was
// spent as may be, or because the last look is a minute old. Looks at customers of a test clock are kept as if they were long ago.
const cannotWait = 'coalesce(m.moved > l.generation or m.spent >= l.look_at, true)';
const isDue = `(l.subject is null or l.again_at <= now() or m.generation > l.generation
  and l.looked_at <= now() - case when m.moved > l.generation or m.spent >= l.look_at then interval '1 second' else interval '60 seconds' end)`;

const markedText = `
from usage.mark m join usage.subject s on s.number = m.subject ${holderOfSubject}
left join customer c on c.environment_id = $2 and c.number = holder.number
left join test_clock k on k.id = c.test_clock_id
where m.env = $1 and m.due_at <= now() and case when $3 = '' then k.target_time is null else k.id = $3 end`;

/** Most marks that an evaluator takes at once: of those that cannot wait, and, where there are none, of the others. */
export interface MarkLimits {
  readonly urgent: number;
  readonly routine: number;
}

/**
 * Marks that an evaluator is due to look at: those with something that cannot wait, by themselves, so that a customer who may have crossed a
 * threshold waits for few others; where there are none, those that were not looked at for longest.
 */
export async function dueMarks(
  sql: Sql,
  scope: Scope,
  { evaluator, time, limits }: { evaluator: string; time: MarkTime; limits: MarkLimits },
): Promise<DueMark[]> {
  const rows = await sql.rows<{
    subject: string;
    generation: string;
    spent: string;
    customer_id: string | null;
    is_hot: boolean;
    is_on_clock: boolean;
    cannot_wait: boolean;
    read_at: string;
  }>(
    `select m.subject::text as subject, m.generation::text as generation, m.spent::text as spent, m.customer_id,
       m.hot_until > now() as is_hot, m.clock is not null as is_on_clock, ${cannotWait} as cannot_wait, now()::text as read_at
     from (select m.*, c.id as customer_id, k.id as clock ${markedText}) m
     left join usage.look l on l.env = m.env and l.subject = m.subject and l.evaluator = $4
     where ${isDue}
     order by ${cannotWait} desc, l.looked_at nulls first, m.subject limit $5`,
    [await environmentNumber(sql, scope), scope.environmentId, clockOf(time), evaluator, limits.urgent],
  );
  const urgent = rows.filter((row) => row.cannot_wait);
  const taken = urgent.length > 0 ? urgent : rows.slice(0, limits.routine);
  return taken.map((row) => ({
    subject: row.subject,
    generation: row.generation,
    spent: row.spent,
    customerId: row.customer_id,
    isHot: row.is_hot && !row.is_on_clock,
    isOnClock: row.is_on_clock,
    readAt: row.read_at,
  }));
}

/** Which evaluators have something to look at. */
export async function dueEvaluators(
  sql: Sql,
  scope: Scope,
  evaluators: readonly string[],
  time: MarkTime,
): Promise<string[]> {
  const rows = await sql.rows<{ evaluator: string }>(
    `with m as materialized (select m.* ${markedText})
     select e.evaluator from unnest($4::text[]) with ordinality as e(evaluator, place) where exists (
       select from m left join usage.look l on l.env = m.env and l.subject = m.subject and l.evaluator = e.evaluator where ${isDue})
     order by e.place`,
    [await environmentNumber(sql, scope), scope.environmentId, clockOf(time), evaluators],
  );
  return rows.map((row) => row.evaluator);
}

/** The instant at which the next mark is due in real time, null when there is none. */
export async function nextMarkAt(sql: Sql, scope: Scope): Promise<string | null> {
  const [row] = await sql.rows<{ at: string | null }>(
    `select to_char(least(
         (select min(m.due_at) from usage.mark m join usage.subject s on s.number = m.subject
          left join customer c on c.environment_id = $2 and c.external_id = s.external_id and c.status = 'published' and s.holder is null
          left join test_clock k on k.id = c.test_clock_id
          where m.env = $1 and m.due_at < 'infinity' and k.target_time is null),
         (select min(due_at) from usage.dated_mark where env = $1 and clock = '')) at time zone 'UTC',
       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
    [await environmentNumber(sql, scope), scope.environmentId],
  );
  return row?.at ?? null;
}

/** Environments with marks that are due now, in real time. */
export function environmentsWithDueMarks(sql: Sql): Promise<{ tenantId: string; environmentId: string }[]> {
  return sql.rows(
    `select e.tenant_id as "tenantId", e.id as "environmentId" from usage.watched_environment w join environment e on e.number = w.env
     where exists (select from usage.mark m where m.env = w.env and m.due_at <= now())
       or exists (select from usage.dated_mark d where d.env = w.env and d.clock = '' and d.due_at <= now()) order by e.id`,
  );
}

/**
 * Takes up dated marks whose time has come, as marks of now: in real time, or on a clock until an instant. In the order of their
 * keys, before the marks of now, as writers do it. Answers how many customers they are of.
 */
export async function takeUpDated(sql: Sql, scope: Scope, time: MarkTime, until: string): Promise<number> {
  const rows = await sql.rows(
    `with taken as (
       select due_at, subject from usage.dated_mark where env = $1 and clock = $2 and due_at <= $3 order by due_at, subject limit 10000 for update),
     gone as (
       delete from usage.dated_mark d using taken t where d.env = $1 and d.clock = $2 and d.due_at = t.due_at and d.subject = t.subject
       returning d.subject)
     insert into usage.mark as m (env, subject, moved, due_at) select distinct $1::int, subject, 1, now() from gone order by 2
     on conflict (env, subject) do update set generation = m.generation + 1, moved = m.generation + 1, due_at = least(m.due_at, now())
     returning m.subject`,
    [await environmentNumber(sql, scope), clockOf(time), until],
  );
  return rows.length;
}

/** A customer that was looked at: how much usage may cost until there is something new, null for any; and when to look again. */
export interface Looked {
  readonly mark: DueMark;
  readonly headroom: string | null;
  readonly againAt: string | null;
}

/**
 * Keeps that an evaluator looked at marks, as they were when they were read: what was marked since is looked at again. Marks are
 * locked in the order of their keys. design: money-in-wallets finding 15
 */
export async function settleLooks(
  sql: Sql,
  scope: Scope,
  { evaluator, evaluators }: { evaluator: string; evaluators: readonly string[] },
  looked: readonly Looked[],
): Promise<void> {
  if (looked.length === 0) return;
  const env = await environmentNumber(sql, scope);
  const subjects = looked.map(({ mark }) => mark.subject);
  // A tenth of the headroom is left for what is rounded.
  const lockText = 'select 1 from usage.mark where env = $1 and subject = any($2) order by subject for update';
  await sql.rows(lockText, [env, subjects]);
  await sql.rows(
    `insert into usage.look (env, subject, evaluator, generation, look_at, looked_at, again_at)
     select $1, l.subject, $2, l.generation, l.spent + 0.9 * l.headroom, l.looked_at, l.again_at
     from unnest($3::bigint[], $4::bigint[], $5::numeric[], $6::numeric[], $7::timestamptz[], $8::timestamptz[])
       as l(subject, generation, spent, headroom, looked_at, again_at)
     where exists (select from usage.mark m where m.env = $1 and m.subject = l.subject) order by l.subject
     on conflict (env, subject, evaluator) do update set generation = excluded.generation, look_at = excluded.look_at,
       looked_at = excluded.looked_at, again_at = excluded.again_at`,
    [
      env,
      evaluator,
      subjects,
      looked.map(({ mark }) => (BigInt(mark.generation) - (mark.isHot ? 1n : 0n)).toString()),
      looked.map(({ mark }) => mark.spent),
      looked.map(({ mark, headroom }) => (mark.isOnClock ? '0' : (headroom ?? 'Infinity'))),
      looked.map(({ mark }) => (mark.isOnClock ? '-infinity' : mark.readAt)),
      looked.map(({ againAt }) => againAt),
    ],
  );
  await sql.rows(
    `update usage.mark m set look_at = d.look_at, looked_at = d.looked_at, due_at = d.due_at from (
       select m.subject, min(coalesce(l.look_at, 0)) as look_at, min(coalesce(l.looked_at, '-infinity')) as looked_at,
         min(case when l.subject is null then now() else least(l.again_at, case when m.generation > l.generation then l.looked_at
           + case when m.moved > l.generation or m.spent >= l.look_at then interval '1 second' else interval '60 seconds' end
           else 'infinity' end) end) as due_at
       from usage.mark m cross join unnest($3::text[]) as e(evaluator)
       left join usage.look l on l.env = m.env and l.subject = m.subject and l.evaluator = e.evaluator
       where m.env = $1 and m.subject = any($2) group by m.subject) d
     where m.env = $1 and m.subject = d.subject`,
    [env, subjects, evaluators],
  );
}

/** Forgets marks that nobody added to for a day, with the looks at them. */
export async function purgeMarks(sql: Sql, scope: Scope): Promise<void> {
  await sql.rows(
    `with idle as (
       select subject from usage.mark where env = $1 and due_at = 'infinity' and looked_at < now() - interval '1 day'
       order by subject limit 1000 for update skip locked),
     gone as (delete from usage.look l using idle where l.env = $1 and l.subject = idle.subject)
     delete from usage.mark m using idle where m.env = $1 and m.subject = idle.subject`,
    [await environmentNumber(sql, scope)],
  );
}

import type { GrantFold, MeteredStretch } from '../../billing/allowance/grant-usage.ts';
import { toMicrosecond } from '../../billing/allowance/grant-window.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { EachEventQuestion } from '../usage-store.ts';
import { hasNoOwnEvents } from './event/own-events.ts';
import { utcText } from './event/stored-event.ts';
import { filterList, usageParameters } from './read-usage.ts';
import { askedText, memberText, memberTime } from './text/usage-text.ts';

/** Fewer events are told one by one: that is one statement. */
const togetherFrom = 2_000;

/** An hour with events, from roll-ups. It is whole where the question's time, and that of every customer in it, is over all of it. */
type Hour = MeteredStretch & { readonly isWhole: boolean };

/** The hours of the questions that can be told by the hour, by place, and the instant of which they are. */
export interface ToldHours {
  readonly watermark: string;
  readonly questions: ReadonlyMap<number, { readonly multiplier: string | null; readonly hours: readonly Hour[] }>;
}

interface HourRow {
  ord: number;
  watermark: string;
  multiplier: string | null;
  opens: string;
  closes: string;
  n: string;
  sum: string;
  least: string;
  is_whole: boolean;
  [column: string]: unknown;
}

/**
 * The hours of questions without filters of their own. Null where they are few events, and in a transaction that has changed events
 * itself. design: usage.md Reading
 */
export async function hoursOf(
  sql: Sql,
  scope: Scope,
  env: number,
  questions: readonly EachEventQuestion[],
): Promise<ToldHours | null> {
  const unfiltered = questions.map(({ filters: _, begin: __, ...question }) => question);
  const rows = await sql.rows<HourRow>(hourText, usageParameters(env, scope, unfiltered));
  const isTold = ({ ord }: HourRow) => filterList(questions[ord]?.filters).length === 0;
  const told = rows.filter(isTold);
  const [first] = told;
  if (!first || told.reduce((count, { n }) => count + Number(n), 0) < togetherFrom) return null;
  const byQuestion = [...Map.groupBy(told, ({ ord }) => ord)].map(([ord, own]) => {
    const hours = own.map(hourOf);
    return [ord, { multiplier: own[0]?.multiplier ?? null, hours }] as const;
  });
  return { watermark: first.watermark, questions: new Map(byQuestion) };
}

function hourOf({ opens, closes, sum, least, is_whole: isWhole }: HourRow): Hour {
  return { start: opens, end: closes, sum, least, isWhole };
}

/**
 * Folds hours one after the other. One of which the fold needs the events is told by `tell`, and after it, while they are needed,
 * ever more hours at once: asking costs more than the events of a few hours.
 */
export async function foldHours(
  question: EachEventQuestion,
  fold: GrantFold,
  hours: readonly Hour[],
  tell: (question: EachEventQuestion) => Promise<unknown>,
): Promise<void> {
  const [from, to] = [toMicrosecond(question.from), toMicrosecond(question.to)];
  let reach = 1;
  for (let index = 0; index < hours.length; ) {
    const { isWhole, ...stretch } = hours[index]!;
    if (isWhole && fold.addTogether(stretch)) {
      index += 1;
      reach = 1;
      continue;
    }
    const { end } = hours[Math.min(index + reach, hours.length) - 1]!;
    const cut = { from: stretch.start > from ? stretch.start : from, to: end < to ? end : to };
    await tell({ ...question, ...cut, begin: () => fold });
    index += reach;
    reach *= 2;
  }
}

const hourText = `
with asked as materialized (${askedText}
), question as materialized (
  select asked.*, name.number as event_name from asked
  left join usage.event_name name on name.env = $1 and name.name = asked.event_text
), ${memberText}
), span as materialized (
  select q.ord, q.meter, q.version, member.subject, w.began, w.ended
  from question q join member using (ord) cross join lateral (${memberTime}) w
  where q.rolled_up and q.grain = interval '1 hour' and ${hasNoOwnEvents}
), hour as (
  select span.ord, rolled.bucket as opens, sum(rolled.n) as n, sum(rolled.s) as s, min(rolled.mn) as least,
    bool_and(rolled.bucket >= span.began and rolled.bucket + interval '1 hour' <= span.ended) as is_whole
  from span cross join lateral (
    select r.bucket, r.n, r.s, r.mn from usage.rollup r
    where r.env = $1 and r.meter = span.meter and r.version = span.version and r.subject = span.subject
      and r.bucket >= date_trunc('hour', span.began, 'UTC') and r.bucket < span.ended
    offset 0) as rolled
  group by span.ord, rolled.bucket
)
select q.ord, case when q.type = 'SUM_WITH_MULTIPLIER' then q.multiplier end as multiplier,
  ${utcText('hour.opens')} as opens, ${utcText(`(hour.opens + interval '1 hour')`)} as closes, hour.n::text as n,
  case when q.type = 'COUNT' then hour.n::text else trim_scale(hour.s)::text end as sum,
  case when q.type = 'COUNT' then '1' else trim_scale(hour.least)::text end as least, hour.is_whole,
  pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text as watermark
from question q join hour using (ord)
order by q.ord, hour.opens`;

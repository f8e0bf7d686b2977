import { measuredValue } from './measured-value.ts';
import { isUnbuilt } from './unbuilt-meter.ts';

// A transaction id is visible in a snapshot of its own cluster; after a restore into another one, ingestion time decides.
const known =
  'edge.snapshot is null or pg_visible_in_snapshot(e.txid, edge.snapshot) and e.ingested_at <= edge.known_until';
// Voided events have the negative number of their environment; a watermark from before the void knows them still.
const ofEnvironment =
  'e.env = any(case when edge.snapshot is null then array[$1::int] else array[$1::int, -$1::int] end)';
const notVoidedThen = 'e.voided is null or not pg_visible_in_snapshot(e.voided, edge.snapshot)';

/** The events `e` of one edge. */
export const matched = `${ofEnvironment} and e.subject = edge.subject and e.event_name = edge.event_name
          and e.ts >= edge.began and e.ts < edge.ended and (edge.filters = '[]' or usage.matches(e.props, edge.filters))
          and (${known}) and (${notVoidedThen})`;

/** Whether an edge needs events that retention dropped. The table is empty where nothing was. */
export const touchesDropped = `exists (select from usage.dropped_usage d where d.env = $1 and d.subject = edge.subject
    and d.event_name = edge.event_name and d.dropped_until > edge.began)`;

/** The questions with what their meters say, in the parameters of `usageText`. */
export const askedText = `
  select q.ord, m.number as meter, m.version, coalesce(m.event_name, q.event_name) as event_text,
    coalesce(m.aggregation ->> 'type', q.type) as type,
    case when m.number is null then q.field else m.aggregation ->> 'field' end as field,
    case when m.expression_program is not null then array(select jsonb_array_elements_text(m.expression_program)) end as program,
    coalesce(m.aggregation ->> 'multiplier', q.multiplier) as multiplier,
    coalesce(case when split_part(q.watermark, '@', 3) = 'then' then (
      select v.filters from usage.meter_version v where v.env = $1 and v.meter = m.number
        and pg_visible_in_snapshot(v.txid, split_part(q.watermark, '@', 1)::pg_snapshot) order by v.version desc limit 1) end,
      m.filters, '[]') || q.filters as filters, q.everybody,
    usage.rollup_grain(m.aggregation ->> 'bucket_size') as grain, m.aggregation ->> 'group_by' as group_by,
    m.number is not null and q.filters = '[]' and q.watermark is null and not ${isUnbuilt('m.number')} as rolled_up,
    split_part(q.watermark, '@', 1)::pg_snapshot as snapshot,
    to_timestamp(split_part(q.watermark, '@', 2)::float8) + interval '1 second' as known_until,
    case when m.reset_usage = 'NEVER' then coalesce(q.history, q.began) else q.began end as began, q.ended
  from unnest((select $3::int[]), (select $4::text[]), (select $5::text[]), (select $6::text[]), (select $7::text[]), (select $8::text[]),
      (select $9::timestamptz[]), (select $10::timestamptz[]), (select $11::timestamptz[]), (select $12::jsonb[]), (select $13::boolean[]), (select $18::text[]))
    as q(ord, meter_id, event_name, type, field, multiplier, began, history, ended, filters, everybody, watermark)
  left join meter m on m.id = q.meter_id and m.environment_id = $2`;

/** The subjects whose usage each question asks for, as `member`: those of its customers and external ids, or all. */
export const memberText = `holder as (
  select c.ord, customer.number, customer.external_id, customer.status = 'published' as holds, c.since, c.until
  from unnest((select $14::int[]), (select $15::text[]), (select $19::timestamptz[]), (select $20::timestamptz[])) as c(ord, id, since, until)
  join customer on customer.id = c.id and customer.environment_id = $2
  union all
  select c.ord, customer.number, c.external_id, true, null, null
  from unnest((select $16::int[]), (select $17::text[])) as c(ord, external_id)
  left join customer on customer.environment_id = $2 and customer.external_id = c.external_id and customer.status = 'published'
), member as materialized (
  select holder.ord, s.number as subject, holder.since, holder.until from holder
  join usage.subject s on s.env = $1 and s.external_id = holder.external_id and s.holder is null where holder.holds
  union
  select holder.ord, s.number, holder.since, holder.until from holder join usage.subject s on s.env = $1 and s.holder = holder.number
  union
  select question.ord, s.number, null, null from question join usage.subject s on s.env = $1 where question.everybody`;

/** When the usage of a member counts in a question: the question's time, as far as it lies in the member's own. */
export const memberTime = `select greatest(q.began, member.since) as began,
  greatest(least(q.ended, member.until), greatest(q.began, member.since)) as ended`;

/** Where the days of months are fewer rows than days are: from some days on, a value tends to have come on several. */
const reachesFar = `span.full_to - span.full_from >= interval '4 days'`;

/**
 * Parameters: 1 env, 2 environment id; per question: 3 ord, 4 meter id or null and, for a made-up measure, 5 event name,
 * 6 type, 7 field, 8 multiplier; 9 from, 10 start of history or null, 11 to, 12 filters, 13 everybody; 14/15 ord and
 * customer id; 16/17 ord and external id; per question 18 watermark or null: only events that it
 * knew, from raw rows; 19/20 with 14/15, from when and until when the customer counts, null for always. Every lateral aggregate is one index range; nothing depends on the planner's
 * idea of how many questions there are, and the arrays are hidden from it: the plan made once serves every call.
 */
export const usageText = `
with asked as materialized (${askedText}
), question as materialized (
  select asked.*, name.number as event_name
  from asked
  left join usage.event_name name on name.env = $1 and name.name = asked.event_text
), ${memberText}
), span as materialized (
  select q.ord, member.subject, w.began, w.ended, full_from, greatest(full_from, full_to) as full_to
  from question q join member using (ord)
  cross join lateral (${memberTime}) w
  cross join lateral (select case when q.type = 'COUNT_UNIQUE' then 'day' else 'hour' end as unit) u
  cross join lateral (select date_trunc(unit, w.began, 'UTC') as down_from, date_trunc(unit, w.ended, 'UTC') as down_to) d
  cross join lateral (select
    case when not q.rolled_up then w.ended
      when down_from = w.began then w.began
      else least(down_from + ('1 ' || unit)::interval, w.ended) end as full_from,
    case when q.rolled_up then down_to else w.ended end as full_to) f
), edge as materialized (
  select q.ord, q.type, q.field, q.program, q.event_name, q.filters, q.snapshot, q.known_until, span.subject, piece.began, piece.ended
  from question q join span using (ord)
  cross join lateral (values (span.began, least(span.full_from, span.ended)), (span.full_to, span.ended)) as piece(began, ended)
  where piece.began < piece.ended and q.event_name is not null
), part as (
  select edge.ord, raw.n, raw.s, raw.st, raw.mx from edge cross join lateral (
    select count(*) as n, sum(v) as s, max(v) as mx,
      sum(case when edge.type = 'WEIGHTED_SUM' then v * extract(epoch from ts) end) as st from (
      select ${measuredValue('edge')} as v, e.ts from usage.event e
      where ${matched}
      offset 0) as matched where v is not null) as raw
  union all
  select q.ord, rolled.n, rolled.s, rolled.st, rolled.mx
  from question q join span using (ord) cross join lateral (
    select sum(r.n) as n, sum(r.s) as s, sum(r.st) as st, max(r.mx) as mx from usage.rollup r
    where r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = span.subject
      and r.bucket >= span.full_from and r.bucket < span.full_to) as rolled
  where span.full_from < span.full_to and q.rolled_up
), total as (
  select ord, sum(n) as n, sum(s) as s, sum(st) as st, max(mx) as mx from part group by ord
)
select q.ord, q.event_text as event_name, q.type, q.multiplier,
  to_char(q.began at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as began,
  coalesce(total.n, 0)::text as n, total.s::text as s, total.st::text as st, total.mx::text as mx,
  case when q.type = 'LATEST' then (
    select lv from (
      select rolled.* from span cross join lateral (
        select r.lt, r.li, r.lid, r.lv from usage.rollup r
        where r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = span.subject
          and r.bucket >= span.full_from and r.bucket < span.full_to
        order by r.bucket desc limit 1) as rolled
      where span.ord = q.ord and q.rolled_up
      union all
      select raw.* from edge cross join lateral (
        select * from (
          select e.ts, e.ingested_at, coalesce(e.event_id, e.key::text) collate "C" as id, ${measuredValue('edge')} as lv
          from usage.event e where ${matched}) as measured
        where lv is not null order by ts desc, ingested_at desc, id desc limit 1) as raw
      where edge.ord = q.ord
    ) as candidate order by lt desc, li desc, lid desc limit 1) end::text as latest,
  case when q.type = 'COUNT_UNIQUE' then (
    select count(*) from (select h from (
      select stored.h from span cross join lateral (
        select d.h from usage.distinct_value d
        where d.env = $1 and d.meter = q.meter and d.version = q.version and d.subject = span.subject
          and d.day >= (span.full_from at time zone 'UTC')::date and d.day < (span.full_to at time zone 'UTC')::date
        offset 0) as stored
      where span.ord = q.ord and q.rolled_up and not ${reachesFar}
      union all
      select stored.h from span
      cross join lateral generate_series(date_trunc('month', span.full_from at time zone 'UTC'),
        (span.full_to at time zone 'UTC') - interval '1 day', interval '1 month') as month(opens)
      cross join lateral (select
        greatest((span.full_from at time zone 'UTC')::date - opens::date, 0) as since,
        least((span.full_to at time zone 'UTC')::date - opens::date, 31) as until) as day
      cross join lateral (
        select d.h from usage.distinct_month d
        where d.env = $1 and d.meter = q.meter and d.version = q.version and d.subject = span.subject and d.month = opens::date
          and d.days & ((1::bigint << day.until) - (1::bigint << day.since))::int <> 0
        offset 0) as stored
      where span.ord = q.ord and q.rolled_up and ${reachesFar}
      union all
      select raw.h from edge cross join lateral (
        select usage.digest(usage.text_form(e.props -> edge.field)) as h from usage.event e where ${matched} offset 0) as raw
      where edge.ord = q.ord) as met where h is not null group by h) as seen) end::text as distinct_count,
  exists (select from edge where edge.ord = q.ord and ${touchesDropped}) as needs_dropped,
  pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text as watermark
from question q left join total using (ord)
order by q.ord`;

/**
 * The questions, each with `event_name`, `multiplier` and `watermark`, and after each the events of its meter by time and id, with
 * value and whether they meet the question's own filters. Parameters as of `usageText`, with the questions' own filters in 21.
 */
export const eachEventText = (time: string): string => `
with asked as materialized (${askedText}
), question as materialized (
  select asked.*, name.number as event_name from asked
  left join usage.event_name name on name.env = $1 and name.name = asked.event_text
), ${memberText}
)
select ord, event_text as event_name, multiplier, watermark, ${time} as at, id, value, is_own from (
  select q.ord, q.event_text, case when q.type = 'SUM_WITH_MULTIPLIER' then q.multiplier end as multiplier,
    pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text as watermark,
    null::timestamptz as ts, null::text collate "C" as id, null::text as value, null::boolean as is_own
  from question q
  union all
  select edge.ord, null, null, null, ts, id, case when edge.counts then '1' else trim_scale(v)::text end, is_own
  from (select q.ord, q.type = 'COUNT' as counts, q.field, q.program, q.event_name, q.filters, q.snapshot, q.known_until,
      own.filters as own_filters, member.subject, w.began, w.ended
    from question q join member using (ord) cross join lateral (${memberTime}) w
    join unnest((select $3::int[]), (select $21::jsonb[])) as own(ord, filters) using (ord)) as edge
  cross join lateral (
    select e.ts, coalesce(e.event_id, e.key::text) collate "C" as id, ${measuredValue('edge')} as v,
      edge.own_filters = '[]' or usage.matches(e.props, edge.own_filters) as is_own
    from usage.event e where ${matched}
    offset 0) as measured
  where v is not null) as told
order by ord, ts nulls first, id`;

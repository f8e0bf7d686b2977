import { measuredValue } from '../measured-value.ts';
import { isUnbuilt } from '../unbuilt-meter.ts';
import { touchesDropped } from './usage-text.ts';

/** The events `e` of one edge. */
const matched = `e.env = $1 and e.subject = edge.subject and e.event_name = edge.event_name
      and e.ts >= edge.began and e.ts < edge.ended and (edge.filters = '[]' or usage.matches(e.props, edge.filters))
      and (cardinality($9::text[]) = 0 or coalesce(e.source, '') = any($9))`;

// One property, the usual case, without a query of its own for each event.
const group = `(case when $13::boolean then array[coalesce(e.source, '')] else '{}' end) || case cardinality($14::text[])
      when 0 then '{}' when 1 then array[coalesce(usage.text_form(e.props -> ($14::text[])[1]), '')]
      else (select array_agg(coalesce(usage.text_form(e.props -> name), '') order by n)
        from unnest($14::text[]) with ordinality as named(name, n)) end`;

/**
 * The events and roll-ups that any number of questions are answered by, as rows of `piece`. Parameters: 1 env, 2 environment id; per question
 * 3 ord, 4 meter id, 5 from, 6 start of history or null, 7 to, 8 conditions; 9 sources; 10/11 ord and customer id;
 * 12 boundaries of the windows, 13 by source, 14 property names, 15 and 16 whether the boundaries lie on hours and on days of
 * UTC, 17 every measure, 18 the most rows; per question
 * 19 everybody.
 *
 * Whole hours (days, for distinct values) come from roll-ups where nothing takes their sums apart, and from events otherwise;
 * each event, and each bucket, is read once and falls into its window by `width_bucket`.
 */
export const pieceText = `
with asked as materialized (
  select q.ord, m.number as meter, m.version, m.event_name as event_text, m.aggregation ->> 'type' as type,
    m.aggregation ->> 'field' as field, m.aggregation ->> 'multiplier' as multiplier,
    m.aggregation ->> 'group_by' as grouped,
    case when m.expression_program is not null then array(select jsonb_array_elements_text(m.expression_program)) end as program,
    coalesce(m.filters, '[]') || q.conditions as filters, q.began as since, q.everybody,
    case when m.reset_usage = 'NEVER' then coalesce(q.history, q.began) else q.began end as began, q.ended,
    q.conditions = '[]' and cardinality($9::text[]) = 0 and not $13::boolean and cardinality($14::text[]) = 0 and not $17::boolean
      and case when m.aggregation ->> 'type' = 'COUNT_UNIQUE' then $16::boolean else $15::boolean end
      and (q.history is null or cardinality($12::timestamptz[]) = 0 or q.began = date_trunc('day', q.began, 'UTC'))
      and not ${isUnbuilt('m.number')} as rolled_up,
    $17::boolean or m.aggregation ->> 'type' = 'LATEST' as latest_wanted, $17 or m.aggregation ->> 'type' = 'COUNT_UNIQUE' as distinct_wanted
  from unnest((select $3::int[]), (select $4::text[]), (select $5::timestamptz[]), (select $6::timestamptz[]),
      (select $7::timestamptz[]), (select $8::jsonb[]), (select $19::boolean[]))
    as q(ord, meter_id, began, history, ended, conditions, everybody)
  join meter m on m.id = q.meter_id and m.environment_id = $2
), question as materialized (
  select asked.*, name.number as event_name, full_from, greatest(full_from, full_to) as full_to
  from asked
  join usage.event_name name on name.env = $1 and name.name = asked.event_text
  cross join lateral (select case when type = 'COUNT_UNIQUE' then 'day' else 'hour' end as unit) u
  cross join lateral (select date_trunc(unit, began, 'UTC') as down_from, date_trunc(unit, ended, 'UTC') as down_to) d
  cross join lateral (select
    case when not rolled_up then greatest(began, ended)
      when down_from = began then began
      else least(down_from + ('1 ' || unit)::interval, greatest(began, ended)) end as full_from,
    case when rolled_up then down_to else greatest(began, ended) end as full_to) f
), holder as (
  select c.ord, customer.number, customer.external_id, customer.status = 'published' as holds
  from unnest((select $10::int[]), (select $11::text[])) as c(ord, id)
  join customer on customer.id = c.id and customer.environment_id = $2
), member as materialized (
  select holder.ord, s.number as subject from holder
  join usage.subject s on s.env = $1 and s.external_id = holder.external_id and s.holder is null where holder.holds
  union
  select holder.ord, s.number from holder join usage.subject s on s.env = $1 and s.holder = holder.number
  union
  select question.ord, s.number from question join usage.subject s on s.env = $1 where question.everybody
), edge as materialized (
  select q.ord, q.field, q.program, q.grouped, q.event_name, q.filters, q.distinct_wanted, q.type = 'WEIGHTED_SUM' as weighted,
    member.subject, piece.began, piece.ended
  from question q join member using (ord)
  cross join lateral (values (q.began, least(q.full_from, q.ended)), (q.full_to, q.ended)) as piece(began, ended)
  where piece.began < piece.ended
), piece as (
  select edge.ord, raw.grp, raw.own_group, raw.ts as at, 1::bigint as n, raw.v as s,
    case when edge.weighted then raw.v * extract(epoch from raw.ts) end as st, raw.v as mx,
    raw.ts as lt, raw.ingested_at as li, raw.id as lid, raw.v as lv, raw.h
  from edge cross join lateral (
    select e.ts, e.ingested_at, coalesce(e.event_id, e.key::text) collate "C" as id, ${measuredValue('edge')} as v,
      case when edge.grouped is null then '' else usage.group_key(e.props -> edge.grouped) end as own_group,
      case when edge.distinct_wanted then usage.digest(usage.text_form(e.props -> edge.field)) end as h, ${group} as grp
    from usage.event e where ${matched}
    offset 0) as raw
  where raw.v is not null
  union all
  select q.ord, '{}', rolled.group_key, rolled.bucket, rolled.n, rolled.s, rolled.st, rolled.mx, rolled.lt, rolled.li, rolled.lid, rolled.lv, null
  from question q join member using (ord) cross join lateral (
    select r.* from usage.rollup r
    where r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = member.subject
      and r.bucket >= q.full_from and r.bucket < q.full_to
    offset 0) as rolled
  where q.rolled_up
  union all
  select q.ord, '{}', '', stored.day at time zone 'UTC', 0, null, null, null, null, null, null, null, stored.h
  from question q join member using (ord) cross join lateral (
    select d.day::timestamp as day, d.h from usage.distinct_value d
    where d.env = $1 and d.meter = q.meter and d.version = q.version and d.subject = member.subject
      and d.day >= (q.full_from at time zone 'UTC')::date and d.day < (q.full_to at time zone 'UTC')::date
    offset 0) as stored
  where q.rolled_up and q.type = 'COUNT_UNIQUE'
)`;

/** Whether the questions need events that retention dropped. */
export const needsDroppedText = `${pieceText}
select exists (select from edge where ${touchesDropped}) as needs_dropped where $18::int is not null`;

/**
 * Groups and windows of usage that is one quantity. Totals are added up from windows. What only the latest and distinct values need
 * is read where they are wanted, by itself: sorting every event for them costs more than reading it again.
 */
export const breakdownText = `${pieceText}, placed as not materialized (
  select piece.*, q.latest_wanted, q.distinct_wanted,
    case when piece.at < q.since then 0 else width_bucket(piece.at, $12::timestamptz[]) end as win
  from piece join question q using (ord)
), cell as materialized (
  select ord, grp, win, sum(n) as n, sum(s) as s, sum(st) as st, max(mx) as mx from placed group by ord, grp, win
), last as materialized (
  select distinct on (ord, grp, win) ord, grp, win, lt, li, lid, lv from placed
  where (select bool_or(latest_wanted) from question) and latest_wanted and lt is not null
  order by ord, grp, win, lt desc, li desc, lid desc
), met as materialized (
  select ord, grp, win, h from placed
  where (select bool_or(distinct_wanted) from question) and distinct_wanted and h is not null group by ord, grp, win, h
), summed as (
  select ord, grp, null::int as win, sum(n) as n, sum(s) as s, sum(st) as st, max(mx) as mx from cell group by ord, grp
  union all
  select ord, grp, win, n, s, st, mx from cell where win > 0
  limit $18
), latest as (
  select ord, grp, win, lv from last
  union all
  select * from (select distinct on (ord, grp) ord, grp, null::int, lv from last order by ord, grp, lt desc, li desc, lid desc) as whole
), seen as (
  select ord, grp, win, count(*) as distinct_count from met group by ord, grp, win
  union all
  select ord, grp, null, count(distinct h) from met group by ord, grp
)
select summed.ord, summed.grp, summed.win, q.type, q.multiplier,
  to_char(q.began at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as began,
  summed.n::text as n, summed.s::text as s, summed.st::text as st, summed.mx::text as mx, latest.lv::text as latest,
  coalesce(seen.distinct_count, 0)::text as distinct_count
from summed join question q using (ord)
left join latest on latest.ord = summed.ord and latest.grp = summed.grp and coalesce(latest.win, -1) = coalesce(summed.win, -1)
left join seen on seen.ord = summed.ord and seen.grp = summed.grp and coalesce(seen.win, -1) = coalesce(summed.win, -1)
order by summed.ord, summed.grp collate "C", summed.win nulls first`;

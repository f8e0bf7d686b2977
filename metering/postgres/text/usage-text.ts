import { measuredValue } from '../measured-value.ts';
import { isUnbuilt } from '../unbuilt-meter.ts';

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

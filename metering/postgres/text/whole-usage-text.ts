import { measuredValue } from '../measured-value.ts';
import { edgeText } from './edge-text.ts';
import { askedText, matched, memberText, touchesDropped } from './usage-text.ts';

/** Where the days of months are fewer rows than days are: from some days on, a value tends to have come on several. */
const reachesFar = `span.full_to - span.full_from >= interval '4 days'`;

/** The distinct values of one question `q`, as rows of `h`, some of them several times. */
const distinctText = `
      select stored.h from span cross join lateral (
        select d.h from usage.distinct_value d
        where d.env = $1 and d.meter = q.meter and d.version = q.version and d.subject = span.subject
          and d.day >= (span.full_from at time zone 'UTC')::date and d.day < (span.full_to at time zone 'UTC')::date
        offset 0) as stored
      where span.ord = q.ord and span.unit = 'day' and q.rolled_up and not ${reachesFar}
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
      where span.ord = q.ord and span.unit = 'day' and q.rolled_up and ${reachesFar}
      union all
      select stored.h from edge cross join lateral (
        select d.h from usage.distinct_value d
        where d.env = $1 and d.meter = q.meter and d.version = q.version and d.subject = edge.subject
          and d.day = (edge.bucket at time zone 'UTC')::date
        offset 0) as stored
      where edge.ord = q.ord and edge.unit = 'day' and edge.is_whole
      union all
      select met.h from edge cross join lateral unnest(edge.hs, edge.firsts, edge.lasts) as met(h, first_at, last_at)
      where edge.ord = q.ord and edge.unit = 'day' and met.first_at < edge.ended and met.last_at >= edge.began
      union all
      select raw.h from edge cross join lateral (
        select usage.digest(usage.text_form(e.props -> edge.field)) as h from usage.event e where ${matched} offset 0) as raw
      where edge.ord = q.ord and edge.unit = 'day' and not edge.is_whole and edge.hs is null
        and (not edge.rolled_up or edge.stored > 0)`;

/** The latest value of one question `q`. Of an hour that was taken apart, the last part inside the edge has an event. */
const latestText = `
    select lv from (
      select rolled.* from rolled_span as span cross join lateral (
        select r.lt, r.li, r.lid, r.lv from usage.rollup r
        where r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = span.subject
          and r.bucket >= span.full_from and r.bucket < span.full_to
        order by r.bucket desc limit 1) as rolled
      where span.ord = q.ord
      union all
      select raw.* from (
        select whole.subject, whole.event_name, whole.filters, whole.field, whole.program, whole.snapshot, whole.known_until, ended,
          greatest(began, (select max(opens) from unnest(whole.opens) as opens
            where opens >= whole.inner_from and opens < whole.inner_to)) as began
        from edge as whole where whole.ord = q.ord and not whole.is_whole and (not whole.rolled_up or whole.stored > 0)
      ) as edge cross join lateral (
        select * from (
          select e.ts, e.ingested_at, coalesce(e.event_id, e.key::text) collate "C" as id, ${measuredValue('edge')} as lv
          from usage.event e where ${matched}) as measured
        where lv is not null order by ts desc, ingested_at desc, id desc limit 1) as raw
    ) as candidate order by lt desc, li desc, lid desc limit 1`;

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
), ${edgeText}, part as (
  select edge.ord, raw.n, raw.s, raw.st, raw.mx from loose as edge cross join lateral (
    select count(*) as n, sum(v) as s, max(v) as mx,
      sum(case when edge.type = 'WEIGHTED_SUM' then v * extract(epoch from ts) end) as st from (
      select ${measuredValue('edge')} as v, e.ts from usage.event e
      where ${matched}
      offset 0) as matched where v is not null) as raw
  union all
  select edge.ord, inner_parts.n, inner_parts.s, inner_parts.st, inner_parts.mx from edge cross join lateral (
    select sum(p.n) as n, sum(p.s) as s, sum(p.st) as st, max(p.mx) as mx
    from unnest(edge.opens, edge.ns, edge.ss, edge.sts, edge.mxs) as p(opens, n, s, st, mx)
    where p.opens >= edge.inner_from and p.opens < edge.inner_to) as inner_parts
  where edge.inner_from < edge.inner_to
  union all
  select q.ord, rolled.n, rolled.s, rolled.st, rolled.mx from rolled_span as span join question q using (ord) cross join lateral (
    select sum(r.n) as n, sum(r.s) as s, sum(r.st) as st, max(r.mx) as mx from usage.rollup r
    where r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = span.subject
      and r.bucket >= span.full_from and r.bucket < span.full_to) as rolled
), total as (
  select ord, sum(n) as n, sum(s) as s, sum(st) as st, max(mx) as mx from part group by ord
)
select q.ord, q.event_text as event_name, q.type, q.multiplier,
  to_char(q.began at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as began,
  coalesce(total.n, 0)::text as n, total.s::text as s, total.st::text as st, total.mx::text as mx,
  case when q.type = 'LATEST' then (${latestText}) end::text as latest,
  case when q.type = 'COUNT_UNIQUE' then (
    select count(*) from (select h from (${distinctText}) as met where h is not null group by h) as seen) end::text as distinct_count,
  exists (select from edge where edge.ord = q.ord and ${touchesDropped}) as needs_dropped,
  wanted.cut as wanted,
  pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text as watermark
from question q left join total using (ord) left join wanted using (ord)
order by q.ord`;

import { measuredValue } from '../measured-value.ts';
import { askedText, matched, memberText, memberTime, touchesDropped } from './usage-text.ts';

/**
 * The rows of one bucketed question. Parameters 1–20 as in `usageText`, arrays of one. The grid of the buckets: 21 where
 * its segments begin, 22 their origins, 23 the step or null; 24 true where roll-up rows lie whole in buckets, else all is
 * read from events; 25 the group property of a made-up measure; 26 the most rows wanted.
 *
 * A row says what its question is as well; the first one alone says as of when. spec: catalogue-and-metering §7.1
 */
export const bucketText = `
with asked as materialized (${askedText}
), question as materialized (
  select asked.*, name.number as event_name, case when meter is null then $25 else group_by end as grouped,
    rolled_up and $24 as rolled
  from asked
  left join usage.event_name name on name.env = $1 and name.name = asked.event_text
), ${memberText}
), span as materialized (
  select q.ord, member.subject, w.began, w.ended, full_from, greatest(full_from, full_to) as full_to
  from question q join member using (ord)
  cross join lateral (${memberTime}) w
  cross join lateral (select date_bin(q.grain, w.began, '1970-01-01Z') as down_from,
    date_bin(q.grain, w.ended, '1970-01-01Z') as down_to) d
  cross join lateral (select
    case when not q.rolled then w.ended
      when down_from = w.began then w.began
      else least(down_from + q.grain, w.ended) end as full_from,
    case when q.rolled then down_to else w.ended end as full_to) f
), edge as materialized (
  select q.field, q.program, q.grouped, q.event_name, q.filters, q.snapshot, q.known_until, span.subject, piece.began, piece.ended
  from question q join span using (ord)
  cross join lateral (values (span.began, least(span.full_from, span.ended)), (span.full_to, span.ended)) as piece(began, ended)
  where piece.began < piece.ended and q.event_name is not null
), cell as (
  select raw.ts, raw.grp, 1::bigint as n, raw.v as s, raw.v as mx from edge cross join lateral (
    select e.ts, ${measuredValue('edge')} as v,
      case when edge.grouped is null then '' else usage.group_key(e.props -> edge.grouped) end as grp
    from usage.event e where ${matched}
    offset 0) as raw
  where raw.v is not null
  union all
  select r.bucket, r.group_key, r.n, r.s, r.mx
  from question q join span using (ord) join usage.rollup r
    on r.env = $1 and r.meter = q.meter and r.version = q.version and r.subject = span.subject
      and r.bucket >= span.full_from and r.bucket < span.full_to
  where q.rolled and span.full_from < span.full_to
), bucket as (
  select case when $23::interval is null then opens
      else greatest(opens, date_bin($23::interval, cell.ts, ($22::timestamptz[])[segment])) end as start,
    cell.grp collate "C" as grp, sum(n) as n, sum(s) as s, max(mx) as mx
  from cell
  cross join lateral (select width_bucket(cell.ts, $21::timestamptz[]) as segment) w
  cross join lateral (select ($21::timestamptz[])[segment] as opens) o
  group by 1, 2 order by 1, 2 limit $26
)
select q.event_text as event_name, q.type,
  case when row_number() over () = 1 then exists (select from edge where ${touchesDropped}) end as needs_dropped,
  case when row_number() over () = 1 then pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text end as watermark,
  to_char(b.start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start, b.grp, b.n::text as n, b.s::text as s,
  b.mx::text as mx
from question q left join (select bucket.*, row_number() over () as position from bucket) b on true
order by b.position`;

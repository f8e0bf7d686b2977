import { memberTime } from './usage-text.ts';

/**
 * From so many events on an hour or a day is dense: reading a part of it event by event costs more than asking for what was made
 * of it. Below, nothing is made.
 */
const denseFrom = 300;

/** Whether nothing happened where an edge leaves something of its bucket out, and nothing was dropped of it. */
const isQuiet = `not exists (
    select from (values (b.bucket, piece.began), (piece.ended, b.bucket + span.size)) as gap(opens, closes)
    where gap.opens < gap.closes and (
      exists (select from usage.event e where e.env = $1 and e.subject = span.subject and e.event_name = q.event_name
        and e.ts >= gap.opens and e.ts < gap.closes)
      or exists (select from usage.dropped_usage d where d.env = $1 and d.subject = span.subject
        and d.event_name = q.event_name and d.dropped_until > gap.opens)))`;

const ofBucket = (row: string) =>
  `${row}.env = $1 and ${row}.meter = q.meter and ${row}.version = q.version and ${row}.subject = span.subject`;

/**
 * Which buckets a question is answered by whole, and what becomes of the one or two pieces at its edges, after CTEs `question` and
 * `member` with the parameters of `usageText`.
 *
 * `span`: per question and subject the full hours of its interval, and for distinct values its full days too. Where the question
 * is read from events, all of it is an edge. Full is `[full_from, full_to)`.
 *
 * `edge`: each lies in one bucket. Roll-ups know its `stored` events: none, and nothing has to be read; few, and they are read one by
 * one; many, and then `is_whole` where the bucket has no event outside the edge, else `opens` and what follows it, or `hs`, where
 * it was taken apart (migration 96) and no event has come since. `inner_from` and `inner_to` are the edge without the parts it
 * cuts through.
 *
 * `loose`: what is to be read from events of the edges of hours. `rolled_span`: the hours that are read from roll-ups.
 * `wanted`: the buckets that would be cheaper to read if they were taken apart, as the rows of `CutBucket`.
 */
export const edgeText = `span as materialized (
  select q.ord, member.subject, u.unit, size, w.began, w.ended, full_from, greatest(full_from, full_to) as full_to
  from question q join member using (ord)
  cross join lateral (${memberTime}) w
  join lateral (values ('hour', interval '1 hour'), ('day', interval '1 day')) as u(unit, size)
    on u.unit = 'hour' or q.type = 'COUNT_UNIQUE'
  cross join lateral (select date_trunc(unit, w.began, 'UTC') as down_from, date_trunc(unit, w.ended, 'UTC') as down_to) d
  cross join lateral (select
    case when not q.rolled_up then w.ended when down_from = w.began then w.began else down_from + size end as full_from,
    case when q.rolled_up then down_to else w.ended end as full_to) f
), edge as materialized (
  select q.ord, q.type, q.field, q.program, q.event_name, q.filters, q.snapshot, q.known_until, q.rolled_up,
    span.subject, span.unit, span.size, piece.began, piece.ended, b.bucket, known.stored, quiet.is_whole,
    hour.opens, hour.ns, hour.ss, hour.sts, hour.mxs, hour.inner_from, greatest(hour.inner_from, hour.inner_to) as inner_to,
    day.hs, day.firsts, day.lasts
  from question q join span using (ord)
  cross join lateral (values (span.began, least(span.full_from, span.ended)), (span.full_to, span.ended)) as piece(began, ended)
  cross join lateral (select date_trunc(span.unit, piece.began, 'UTC') as bucket) b
  cross join lateral (select case when q.rolled_up then (
    select sum(r.n) from usage.rollup r
    where ${ofBucket('r')} and r.bucket >= b.bucket and r.bucket < b.bucket + span.size) end as stored offset 0) known
  cross join lateral (select case when known.stored >= ${denseFrom} then ${isQuiet} else false end as is_whole offset 0) quiet
  left join lateral (
    select d.*, date_bin(d.step, piece.began, d.hour) + case when date_bin(d.step, piece.began, d.hour) = piece.began
        then interval '0' else d.step end as inner_from, date_bin(d.step, piece.ended, d.hour) as inner_to
    from usage.dense_hour d
    where ${ofBucket('d')} and d.hour = b.bucket and d.n = known.stored
      and span.unit = 'hour' and known.stored >= ${denseFrom} and not quiet.is_whole
    offset 0) as hour on true
  left join lateral (
    select d.* from usage.dense_day d
    where ${ofBucket('d')} and d.day = (b.bucket at time zone 'UTC')::date and d.n = known.stored
      and span.unit = 'day' and known.stored >= ${denseFrom} and not quiet.is_whole and (piece.began = b.bucket or piece.ended = b.bucket + span.size)
    offset 0) as day on true
  where piece.began < piece.ended and q.event_name is not null
), loose as materialized (
  select edge.ord, edge.type, edge.field, edge.program, edge.event_name, edge.filters, edge.snapshot, edge.known_until, edge.subject,
    piece.began, piece.ended
  from edge cross join lateral (values
    (edge.began, least(edge.inner_from, edge.ended)), (coalesce(edge.inner_to, edge.ended), edge.ended)
  ) as piece(began, ended)
  where edge.unit = 'hour' and not edge.is_whole and (not edge.rolled_up or edge.stored > 0) and piece.began < piece.ended
), rolled_span as materialized (
  select span.ord, span.subject, full_from, full_to from span join question q using (ord)
  where q.rolled_up and unit = 'hour' and full_from < full_to
  union all
  select ord, subject, bucket, bucket + size from edge where unit = 'hour' and is_whole
), wanted as (
  select ord, jsonb_agg(jsonb_build_object('subject', subject::text, 'unit', unit, 'bucket', bucket, 'events', stored::text)) as cut
  from edge where stored >= ${denseFrom} and not is_whole and opens is null and hs is null
    and (unit = 'hour' or began = bucket or ended = bucket + size)
  group by ord
)`;

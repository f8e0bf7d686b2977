import { matchingEvents, measuredColumns, meterText } from '../build-rollups.ts';
import { measuredValue } from '../measured-value.ts';
import { isUnbuilt } from '../unbuilt-meter.ts';

const inBucket = (size: string) =>
  `and e.subject = $3::bigint and e.ts >= $4::timestamptz and e.ts < $4::timestamptz + interval '${size}'`;

/** The meter, its events of the bucket, and how many of them roll-ups know. */
const bucketText = (size: string) => `
with m as materialized (${meterText}), matched as materialized (${matchingEvents(inBucket(size))}), stored as materialized (
  select m.env, m.meter, m.version, $3::bigint as subject, sum(r.n) as n
  from m join usage.rollup r on r.env = m.env and r.meter = m.meter and r.version = m.version and r.subject = $3::bigint
    and r.bucket >= $4::timestamptz and r.bucket < $4::timestamptz + interval '${size}'
  where not exists (select from usage.meter_build b where b.env = m.env and b.meter = m.meter and b.is_first)
  group by 1, 2, 3
)`;

/** Parts are smaller where events are more, so that the two that an edge cuts through stay cheap to read. */
const step = `case when stored.n < 30000 then interval '1 minute' when stored.n < 300000 then interval '10 seconds'
    else interval '1 second' end`;

/**
 * Takes an hour of a meter apart. Parameters: 1 environment id, 2 meter id, 3 subject, 4 where it begins. Where events and roll-ups
 * tell different numbers, of which retention is the one cause, nothing is made. One that is there and knows of fewer is replaced.
 */
export const denseHourText = `${bucketText('1 hour')}, part as (
  select date_bin(${step}, ts, $4::timestamptz) as opens, count(*) as n, sum(q) as s, sum(q * extract(epoch from ts)) as st, max(q) as mx
  from matched cross join stored where q is not null group by 1
)
insert into usage.dense_hour as d (env, meter, version, subject, hour, n, step, opens, ns, ss, sts, mxs)
select stored.env, stored.meter, stored.version, stored.subject, $4::timestamptz, stored.n, ${step},
  array_agg(part.opens order by opens), array_agg(part.n order by opens), array_agg(part.s order by opens),
  array_agg(part.st order by opens), array_agg(part.mx order by opens)
from stored cross join part group by 1, 2, 3, 4, stored.n having sum(part.n) = stored.n
on conflict (env, meter, version, subject, hour) do update set n = excluded.n, step = excluded.step, opens = excluded.opens,
  ns = excluded.ns, ss = excluded.ss, sts = excluded.sts, mxs = excluded.mxs where d.n < excluded.n`;

/** Notes when each distinct value of a meter was met first and last on a day. Parameters and rules of `denseHourText`. */
export const denseDayText = `${bucketText('1 day')}, met as (
  select h, min(ts) as first_at, max(ts) as last_at from matched where h is not null group by h
)
insert into usage.dense_day as d (env, meter, version, subject, day, n, hs, firsts, lasts)
select stored.env, stored.meter, stored.version, stored.subject, ($4::timestamptz at time zone 'UTC')::date, stored.n,
  coalesce(array_agg(h order by h) filter (where h is not null), '{}'),
  coalesce(array_agg(first_at order by h) filter (where h is not null), '{}'),
  coalesce(array_agg(last_at order by h) filter (where h is not null), '{}')
from stored left join met on true
where stored.n = (select count(*) from matched where q is not null) group by 1, 2, 3, 4, stored.n
on conflict (env, meter, version, subject, day) do update set n = excluded.n, hs = excluded.hs, firsts = excluded.firsts,
  lasts = excluded.lasts where d.n < excluded.n`;

/** The events `e` that the meter `m` counts for the row `d` in [from, to). */
const eventsOf = (from: string, to: string) => `usage.event e
    where e.env = $1 and e.subject = d.subject and e.event_name = m.event_name and e.ts >= ${from} and e.ts < ${to}
      and (m.filters = '[]' or usage.matches(e.props, m.filters))`;

const meters = `
  select m.id, m.number as meter, m.version, m.filters, ${measuredColumns}, name.number as event_name
  from meter m join usage.event_name name on name.env = $1 and name.name = m.event_name
  where m.environment_id = $2 and not ${isUnbuilt('m.number')}`;

const isKnown = (from: string, to: string) => `d.env = $1 and d.n = (
    select sum(r.n) from usage.rollup r where r.env = $1 and r.meter = d.meter and r.version = d.version and r.subject = d.subject
      and r.bucket >= ${from} and r.bucket < ${to})
  and not exists (select from usage.dropped_usage x where x.env = $1 and x.subject = d.subject and x.event_name = m.event_name
    and x.dropped_until > ${from})`;
const dayStart = `(d.day::timestamp at time zone 'UTC')`;
const [hourSpan, daySpan] = [
  ['d.hour', `d.hour + interval '1 hour'`],
  [dayStart, `${dayStart} + interval '1 day'`],
] as const;

/** Differences among the hours and days that two conditions on `d` leave. */
const differenceText = (hours: string, days: string) => `
with m as materialized (${meters})
select m.id as meter_id, s.external_id, d.hour::text as bucket, row(d.opens, d.ns, t.ss, t.sts, t.mxs)::text as stored, recomputed
from usage.dense_hour d join m using (meter, version) join usage.subject s on s.number = d.subject
cross join lateral (select array_agg(trim_scale(x.s) order by x.opens) as ss, array_agg(trim_scale(x.st) order by x.opens) as sts,
  array_agg(trim_scale(x.mx) order by x.opens) as mxs from unnest(d.opens, d.ss, d.sts, d.mxs) as x(opens, s, st, mx)) t
cross join lateral (
  select row(array_agg(opens order by opens), array_agg(n order by opens), array_agg(trim_scale(s) order by opens),
    array_agg(trim_scale(st) order by opens), array_agg(trim_scale(mx) order by opens))::text as recomputed
  from (select date_bin(d.step, ts, d.hour) as opens, count(*) as n, sum(q) as s, sum(q * extract(epoch from ts)) as st, max(q) as mx
    from (select e.ts, ${measuredValue('m')} as q from ${eventsOf(...hourSpan)} offset 0) as event where q is not null group by 1) part) r
where ${isKnown(...hourSpan)} ${hours} and row(d.opens, d.ns, t.ss, t.sts, t.mxs)::text is distinct from recomputed
union all
select m.id, s.external_id, d.day::text, row(d.hs, d.firsts, d.lasts)::text, recomputed
from usage.dense_day d join m using (meter, version) join usage.subject s on s.number = d.subject
cross join lateral (
  select row(coalesce(array_agg(h order by h), '{}'), coalesce(array_agg(first_at order by h), '{}'),
    coalesce(array_agg(last_at order by h), '{}'))::text as recomputed
  from (select usage.digest(usage.text_form(e.props -> m.field)) as h, min(e.ts) as first_at, max(e.ts) as last_at
    from ${eventsOf(...daySpan)} group by 1) met where h is not null) r
where ${isKnown(...daySpan)} ${days} and row(d.hs, d.firsts, d.lasts)::text is distinct from recomputed
limit $3`;

/** Hours and days that questions would be answered by and that are not what their events say. Parameters: 1 env, 2 environment id, 3 limit. */
export const denseDifferenceText = differenceText('', '');

/** As above of one customer's day. Parameters: also 4 subject, 5 where the day begins. */
export const sampledDenseText = differenceText(
  `and d.subject = $4::bigint and d.hour >= $5::timestamptz and d.hour < $5::timestamptz + interval '1 day'`,
  `and d.subject = $4::bigint and d.day = ($5::timestamptz at time zone 'UTC')::date`,
);

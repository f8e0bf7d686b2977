/**
 * One statement stores a batch. Parameters: 1 env; per event: 2 ord, 3 key, 4 event id (null when it is the key), 5
 * subject, 6 event name number, 7 timestamp or null, 8 source, 9 properties, 10 true for a repeat inside the batch; per
 * contribution: 11 ord, 12 meter, 13 meter version, 14 quantity, 15 digest of the distinct value, 16 true where the latest
 * value is kept, 17 minutes of a roll-up row, 18 group. `keepsLatest` is true when any contribution has the third last,
 * `bucketed` when any has a group or rows of less than an hour: the plain statement, without 17 and 18, is the cheaper one.
 *
 * The insert of keys alone decides what is new; everything else is joined to its result, so roll-ups and events cannot
 * disagree. Every insert is in the order of its primary key, so writers that meet wait for each other and never
 * deadlock. A copy is stamped after the wait for its rival: the effective event is the oldest. design: usage.md Writing
 */
export function appendText(keepsLatest: boolean, bucketed: boolean): string {
  const gains = `unnest($11::int[], $12::int[], $13::int[], $14::numeric[], $15::uuid[], $16::boolean[]${bucketed ? ', $17::int[], $18::text[]' : ''})
    as c(ord, meter, version, q, h, latest${bucketed ? ', grain, g' : ''})`;
  return `
with input as materialized (
  select i.*, coalesce(i.at, now()) as ts from ${sentEvents}
), fresh as (
  insert into usage.event_key (env, key) select $1, key from input where not repeat order by key
  on conflict do nothing returning key, seq
), stored as (
  insert into usage.event (seq, subject, ts, ingested_at, key, env, event_name, event_id, source, props)
  select f.seq, i.subject, i.ts, now() + i.ord * interval '1 microsecond', i.key, $1, i.event_name, i.event_id, i.source,
    i.props::json
  from input i join fresh f using (key) where not i.repeat order by f.seq
), gain as materialized (
  select c.meter, c.version, i.subject, ${bucketed ? "date_bin(make_interval(mins => c.grain), i.ts, '1970-01-01Z')" : "date_trunc('hour', i.ts, 'UTC')"} as bucket,
    ${bucketed ? 'c.g' : "''"} as group_key, c.q, i.ts, i.ord, case when c.latest then coalesce(i.event_id, i.key::text) end as id, c.h, c.latest
  from ${gains}
  join input i using (ord) join fresh using (key)
), seen as (
  insert into usage.distinct_value (env, meter, version, subject, day, h)
  select distinct $1::int, meter, version, subject, (ts at time zone 'UTC')::date as day, h from gain where h is not null
  order by meter, version, subject, day, h
  on conflict do nothing
${keepsLatest ? rolledWithLatest : rolled}
), copied as (
  insert into usage.event_copy (env, key, ingested_at, ts, event_id, external_customer_id, event_name, source, props)
  select $1, i.key, clock_timestamp(), i.ts, coalesce(i.event_id, i.key::text), s.external_id, name.name, i.source,
    i.props::json
  from input i left join fresh f on f.key = i.key and not i.repeat
  join usage.subject s on s.number = i.subject
  join usage.event_name name on name.env = $1 and name.number = i.event_name
  where f.key is null order by i.key, i.ord
)
select count(*)::int as fresh from fresh`;
}

const sentEvents = `unnest($2::int[], $3::uuid[], $4::text[], $5::bigint[], $6::int[],
      $7::timestamptz[], $8::text[], $9::text[], $10::boolean[])
    as i(ord, key, event_id, subject, event_name, at, source, props, repeat)`;

/** Adds a roll-up row to the one that is there, without and with the latest value. */
export const added = `on conflict (env, meter, version, subject, bucket, group_key) do update set
    n = r.n + excluded.n, s = r.s + excluded.s, st = r.st + excluded.st,
    mx = greatest(r.mx, excluded.mx), mn = least(r.mn, excluded.mn)`;
export const addedWithLatest = `${added},
    (lt, li, lid, lv) = (select x.lt, x.li, x.lid, x.lv
      from (values (r.lt, r.li, r.lid, r.lv), (excluded.lt, excluded.li, excluded.lid, excluded.lv)) as x(lt, li, lid, lv)
      order by x.lt desc nulls last, x.li desc, x.lid collate "C" desc limit 1)`;

const rolled = `), rolled as (
  insert into usage.rollup as r (env, meter, version, subject, bucket, group_key, n, s, st, mx, mn)
  select $1, meter, version, subject, bucket, group_key, count(*), sum(q), sum(q * extract(epoch from ts)), max(q), min(q)
  from gain group by meter, version, subject, bucket, group_key order by meter, version, subject, bucket, group_key collate "C"
  ${added}`;

const rolledWithLatest = `), last as (
  select distinct on (meter, version, subject, bucket) meter, version, subject, bucket, ts, ord, id, q from gain where latest
  order by meter, version, subject, bucket, ts desc, ord desc
), rolled as (
  insert into usage.rollup as r (env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv)
  select $1, g.meter, g.version, g.subject, g.bucket, g.group_key, count(*), sum(g.q), sum(g.q * extract(epoch from g.ts)), max(g.q),
    min(g.q), max(l.ts), max(now() + l.ord * interval '1 microsecond'), max(l.id), max(l.q)
  from gain g left join last l on l.meter = g.meter and l.version = g.version and l.subject = g.subject and l.bucket = g.bucket
  group by g.meter, g.version, g.subject, g.bucket, g.group_key
  order by g.meter, g.version, g.subject, g.bucket, g.group_key collate "C"
  ${addedWithLatest}`;

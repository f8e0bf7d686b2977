import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { BucketDifference } from '../usage-store.ts';
import { matchingEventsText, measuredColumns, rolledText, withinSpan } from './build-rollups.ts';
import { environmentNumber } from './environment-number.ts';
import { denseDifferenceText, sampledDenseText } from './text/dense-text.ts';
import { isUnbuilt } from './unbuilt-meter.ts';

interface DifferenceRow {
  meter_id: string;
  external_id: string;
  bucket: string;
  stored: string | null;
  recomputed: string | null;
}

const maxDifferences = 100;

/**
 * Recomputes every roll-up bucket and distinct value of the environment, and what was made of dense ones, from events and
 * returns what differs, at most 100 of each. The quantities of roll-ups were computed by the process that ingested them, these
 * are computed in SQL: two programs that must agree.
 * design: quality.md I4
 */
export async function verifyRollups(sql: Sql, scope: Scope): Promise<BucketDifference[]> {
  const env = await environmentNumber(sql, scope);
  const rows = [
    ...(await sql.rows<DifferenceRow>(rollupDifferenceText, [env, scope.environmentId, maxDifferences])),
    ...(await sql.rows<DifferenceRow>(distinctDifferenceText, [env, scope.environmentId, maxDifferences])),
    ...(await sql.rows<DifferenceRow>(monthDifferenceText, [env, maxDifferences])),
    ...(await sql.rows<DifferenceRow>(denseDifferenceText, [env, scope.environmentId, maxDifferences])),
  ];
  return rows.map(differenceOf);
}

function differenceOf(row: DifferenceRow): BucketDifference {
  return {
    meterId: row.meter_id,
    externalCustomerId: row.external_id,
    bucket: row.bucket,
    stored: row.stored ?? 'missing',
    recomputed: row.recomputed ?? 'missing',
  };
}

const metersText = `
  select m.id, m.number as meter, m.version, m.filters, ${measuredColumns}, $1::int as env, name.number as event_name
  from meter m join usage.event_name name on name.env = $1 and name.name = m.event_name where m.environment_id = $2
    and not ${isUnbuilt('m.number')}`;

const columns = 'env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv';
const figures = `row(t.n, trim_scale(t.s), trim_scale(t.st), trim_scale(t.mx), trim_scale(t.mn), t.lt, t.li, t.lid, trim_scale(t.lv))::text`;

// What is being built, or was in force until now, is not asked by anybody.
const inForce = `not exists (select from m where m.meter = r.meter and m.version <> r.version) and not ${isUnbuilt('r.meter')}`;

// What was dropped can be recomputed no more.
const undropped = (
  end: string,
) => `not exists (select from m join usage.dropped_usage d on d.env = $1 and d.event_name = m.event_name
  where m.meter = meter.number and d.subject = s.number and ${end} < d.dropped_until)`;

const rollupDifferenceText = `
with m as materialized (${metersText}), matched as (${matchingEventsText}), recomputed as (${rolledText}),
stored as (select ${columns} from usage.rollup r where env = $1 and ${inForce}),
a as (select env, meter, version, subject, bucket, group_key, ${figures} as figures from stored t),
b as (select env, meter, version, subject, bucket, group_key, ${figures} as figures from recomputed t)
select meter.id as meter_id, s.external_id, bucket::text, a.figures as stored, b.figures as recomputed
from a full join b using (env, meter, version, subject, bucket, group_key)
join usage.subject s on s.number = subject join meter on meter.number = meter
where a.figures is distinct from b.figures and ${undropped('bucket')} limit $3`;

const distinctDifferenceText = `
with m as materialized (${metersText}), matched as (${matchingEventsText}),
a as (select meter, version, subject, day, h, true as there from usage.distinct_value r where env = $1 and ${inForce}),
b as (select distinct meter, version, subject, (ts at time zone 'UTC')::date as day, h, true as there from matched where h is not null)
select meter.id as meter_id, s.external_id, day::text as bucket, case when a.there then h::text end as stored,
  case when b.there then h::text end as recomputed
from a full join b using (meter, version, subject, day, h)
join usage.subject s on s.number = subject join meter on meter.number = meter
where a.there is distinct from b.there and ${undropped(`day::timestamp at time zone 'UTC'`)} limit $3`;

// What questions about weeks read, against the days it is derived from.
const monthDifferenceText = `
with a as (select meter, version, subject, month + n as day, h from usage.distinct_month, generate_series(0, 30) as n
  where env = $1 and days & (1 << n) <> 0),
b as (select meter, version, subject, day, h from usage.distinct_value where env = $1)
select meter.id as meter_id, s.external_id, day::text as bucket, case when a.h is not null then h::text end as stored,
  case when b.h is not null then h::text end as recomputed
from a full join b using (meter, version, subject, day, h)
join usage.subject s on s.number = subject join meter on meter.number = meter
where a.h is null or b.h is null limit $2`;

/**
 * Compares the days of a random sample of events, and of roll-ups, with what their events say: how many were looked at and
 * what differs. Each costs as much as the customer's events of that day. design: usage.md Afterwards
 */
export async function verifySample(
  sql: Sql,
  scope: Scope,
  size: number,
): Promise<{ examined: number; differences: BucketDifference[] }> {
  const env = await environmentNumber(sql, scope);
  const days = await sql.rows<{ subject: string; day: string }>(sampleText, [env, size]);
  const differences: BucketDifference[] = [];
  for (const { subject, day } of days) {
    const values = [env, scope.environmentId, maxDifferences, subject, `${day}T00:00:00Z`];
    for (const text of [sampledRollupText, sampledDistinctText, sampledDenseText]) {
      differences.push(...(await sql.rows<DifferenceRow>(text, values)).map(differenceOf));
    }
  }
  return { examined: days.length, differences: differences.slice(0, maxDifferences) };
}

const dayEnd = `$5::timestamptz + interval '1 day'`;
const sampled = ['$4', '$5', `(${dayEnd})`] as const;
const sampledRollupText = withinSpan(rollupDifferenceText, sampled).replace(
  'from usage.rollup r where env = $1',
  `from usage.rollup r where env = $1 and subject = $4::bigint and bucket >= $5::timestamptz and bucket < ${dayEnd}`,
);
const sampledDistinctText = withinSpan(distinctDifferenceText, sampled).replace(
  'from usage.distinct_value r where env = $1',
  `from usage.distinct_value r where env = $1 and subject = $4::bigint and day = ($5::timestamptz at time zone 'UTC')::date`,
);

// Random places in the order of ingestion, and random roll-ups: a bucket without events is found by the latter only.
const sampleText = `
with bounds as (select min(seq) as least, max(seq) as most from usage.event where env = $1), place as (
  select least + floor(random() * (most - least + 1))::bigint as seq from bounds, generate_series(1, $2::int) where most is not null
), event as (
  select distinct e.subject, (e.ts at time zone 'UTC')::date as day from place
  cross join lateral (select subject, ts from usage.event e where e.env = $1 and e.seq >= place.seq and e.seq < place.seq + 1000
    order by e.seq limit 1) e
), rolled as (
  select subject, (bucket at time zone 'UTC')::date as day from usage.rollup tablesample bernoulli (10) where env = $1
  order by random() limit $2
)
select subject::text as subject, day::text as day from (select * from event union select * from rolled) sample
order by random() limit $2`;

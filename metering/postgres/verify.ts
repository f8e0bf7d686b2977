import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { BucketDifference } from '../usage-store.ts';
import { matchingEventsText, measuredColumns, rolledText } from './build-rollups.ts';
import { environmentNumber } from './environment-number.ts';

interface DifferenceRow {
  meter_id: string;
  external_id: string;
  bucket: string;
  stored: string | null;
  recomputed: string | null;
}

const maxDifferences = 100;

/**
 * Recomputes every roll-up bucket and distinct value of the environment from events and returns what differs, at most 100. The quantities of
 * roll-ups were computed by the process that ingested them, these are computed in SQL: two programs that must agree.
 * design: quality.md I4
 */
export async function verifyRollups(sql: Sql, scope: Scope): Promise<BucketDifference[]> {
  const env = await environmentNumber(sql, scope);
  const rows = [
    ...(await sql.rows<DifferenceRow>(rollupDifferenceText, [env, scope.environmentId, maxDifferences])),
    ...(await sql.rows<DifferenceRow>(distinctDifferenceText, [env, scope.environmentId, maxDifferences])),
  ];
  return rows.map((row) => ({
    meterId: row.meter_id,
    externalCustomerId: row.external_id,
    bucket: row.bucket,
    stored: row.stored ?? 'missing',
    recomputed: row.recomputed ?? 'missing',
  }));
}

const metersText = `
  select m.id, m.number as meter, m.version, m.filters, ${measuredColumns}, $1::int as env, name.number as event_name
  from meter m join usage.event_name name on name.env = $1 and name.name = m.event_name where m.environment_id = $2`;

const columns = 'env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv';
const figures = `row(t.n, trim_scale(t.s), trim_scale(t.st), trim_scale(t.mx), trim_scale(t.mn), t.lt, t.li, t.lid, trim_scale(t.lv))::text`;

const rollupDifferenceText = `
with m as materialized (${metersText}), matched as (${matchingEventsText}), recomputed as (${rolledText}),
stored as (select ${columns} from usage.rollup where env = $1),
a as (select env, meter, version, subject, bucket, group_key, ${figures} as figures from stored t),
b as (select env, meter, version, subject, bucket, group_key, ${figures} as figures from recomputed t)
select meter.id as meter_id, s.external_id, bucket::text, a.figures as stored, b.figures as recomputed
from a full join b using (env, meter, version, subject, bucket, group_key)
join usage.subject s on s.number = subject join meter on meter.number = meter
where a.figures is distinct from b.figures limit $3`;

const distinctDifferenceText = `
with m as materialized (${metersText}), matched as (${matchingEventsText}),
a as (select meter, version, subject, day, h, true as there from usage.distinct_value where env = $1),
b as (select distinct meter, version, subject, (ts at time zone 'UTC')::date as day, h, true as there from matched where h is not null)
select meter.id as meter_id, s.external_id, day::text as bucket, case when a.there then h::text end as stored,
  case when b.there then h::text end as recomputed
from a full join b using (meter, version, subject, day, h)
join usage.subject s on s.number = subject join meter on meter.number = meter
where a.there is distinct from b.there limit $3`;

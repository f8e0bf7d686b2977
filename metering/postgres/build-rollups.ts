import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { measuredValue } from './measured-value.ts';

export interface ScopedSql extends Sql {
  readonly scope: Scope;
}

/**
 * Builds the roll-ups of a meter from the events that came before it, and drops those of its earlier versions. Call it in
 * the transaction that inserts a meter or changes its filters, after the row is written: from then until commit, writers
 * of the environment wait, so every event is counted once, by the build or by its own ingestion. A meter whose event
 * name was never seen costs one look-up. spec: catalogue-and-metering §5.2, §6.6
 */
export async function buildMeterRollups(tx: ScopedSql, meter: { id: string }): Promise<void> {
  await tx.rows('select usage.raise_catalogue_version($1)', [tx.scope.environmentId]);
  const values = [tx.scope.environmentId, meter.id];
  await tx.rows(dropText('usage.rollup'), values);
  await tx.rows(dropText('usage.distinct_value'), values);
  await tx.rows(buildRollupText, values);
  await tx.rows(buildDistinctText, values);
}

/** How the meter `m` reads an event: for `measuredValue` and `matchingEventsText`. */
export const measuredColumns = `m.aggregation ->> 'field' as field, m.aggregation ->> 'type' as type,
    case when m.expression_program is not null then array(select jsonb_array_elements_text(m.expression_program)) end as program,
    m.aggregation ->> 'group_by' as group_by, usage.rollup_grain(m.aggregation ->> 'bucket_size') as grain`;

const meterText = `
  select m.number as meter, m.version, m.filters, ${measuredColumns}, environment.number as env, name.number as event_name
  from meter m join environment on environment.id = m.environment_id
  left join usage.event_name name on name.env = environment.number and name.name = m.event_name
  where m.environment_id = $1 and m.id = $2`;

function dropText(table: string): string {
  return `with m as materialized (${meterText})
    delete from ${table} r using m where r.env = m.env and r.meter = m.meter`;
}

/** The matching events of a meter as (subject, ts, ingested_at, id, quantity, distinct digest). */
const matchingEvents = (where: string) => `
  select e.subject, e.ts, e.ingested_at, coalesce(e.event_id, e.key::text) collate "C" as id,
    ${measuredValue('m')} as q, case when m.group_by is null then '' else usage.group_key(e.props -> m.group_by) end as group_key,
    case when m.type = 'COUNT_UNIQUE' then usage.digest(usage.text_form(e.props -> m.field)) end as h,
    m.env, m.meter, m.version, m.type, m.grain
  from m join usage.event e on e.env = m.env and e.event_name = m.event_name
    and (m.filters = '[]' or usage.matches(e.props, m.filters))
    ${where} offset 0`;
export const matchingEventsText = matchingEvents('');

/** Roll-up rows of `matched`, in the columns of usage.rollup. An event whose expression fails is not in the input set. */
export const rolledText = `
  select env, meter, version, subject, date_bin(grain, ts, '1970-01-01Z') as bucket, group_key, count(*) as n, sum(q) as s,
    sum(q * extract(epoch from ts)) as st, max(q) as mx, min(q) as mn,
    max(ts) filter (where type = 'LATEST') as lt,
    (array_agg(ingested_at order by ts desc, ingested_at desc, id desc) filter (where type = 'LATEST'))[1] as li,
    (array_agg(id order by ts desc, ingested_at desc, id desc) filter (where type = 'LATEST'))[1] as lid,
    (array_agg(q order by ts desc, ingested_at desc, id desc) filter (where type = 'LATEST'))[1] as lv
  from matched where q is not null
  group by env, meter, version, subject, date_bin(grain, ts, '1970-01-01Z'), group_key`;

const buildRollupText = `
with m as materialized (${meterText}), matched as (${matchingEventsText})
insert into usage.rollup (env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv) ${rolledText}`;

const buildDistinctText = `
with m as materialized (select * from (${meterText}) as meter where type = 'COUNT_UNIQUE'), matched as (${matchingEventsText})
insert into usage.distinct_value (env, meter, version, subject, day, h)
select distinct env, meter, version, subject, (ts at time zone 'UTC')::date, h from matched where h is not null`;

/** Such a text for the events of one subject in [from, to), given by these parameters. */
export function withinSpan(text: string, [subject, from, to]: readonly [string, string, string]): string {
  const where = `and e.subject = ${subject}::bigint and e.ts >= ${from}::timestamptz and e.ts < ${to}::timestamptz`;
  return text.replace(matchingEventsText, () => matchingEvents(where));
}

/**
 * Builds the buckets of a meter anew that hold the events of one subject in an hour, and its distinct values of that day.
 * The caller holds the lock of the environment, so that no event is counted meanwhile. design: usage.md Afterwards
 */
export async function rebuildBuckets(
  tx: ScopedSql,
  meterId: string,
  at: { subject: string; ts: string },
): Promise<void> {
  for (const [text, unit] of [
    [rebuildRollupText, 'hour'],
    [rebuildDistinctText, 'day'],
  ] as const) {
    const [span] = await tx.rows<{ began: string; ended: string }>(
      `select date_trunc($1, $2::timestamptz, 'UTC') as began, date_trunc($1, $2::timestamptz, 'UTC') + ('1 ' || $1)::interval as ended`,
      [unit, at.ts],
    );
    const values = [tx.scope.environmentId, meterId, at.subject, span?.began, span?.ended];
    await tx.rows(unit === 'hour' ? dropHourText : dropDayText, values);
    await tx.rows(text, values);
  }
}

const span = ['$3', '$4', '$5'] as const;
const rebuildRollupText = withinSpan(buildRollupText, span);
const rebuildDistinctText = withinSpan(buildDistinctText, span);
const dropHourText = `${dropText('usage.rollup')} and r.subject = $3::bigint
  and r.bucket >= $4::timestamptz and r.bucket < $5::timestamptz`;
const dropDayText = `${dropText('usage.distinct_value')} and r.subject = $3::bigint
  and r.day >= ($4::timestamptz at time zone 'UTC')::date and r.day < ($5::timestamptz at time zone 'UTC')::date`;

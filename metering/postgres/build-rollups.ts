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
 * name was never seen costs one look-up. Of times that retention dropped events of, what is rolled up stays as it is; a new
 * meter counts what is left of them. spec: catalogue-and-metering §5.2, §6.6
 */
export async function buildMeterRollups(tx: ScopedSql, meter: { id: string }): Promise<void> {
  await tx.rows('select usage.raise_catalogue_version($1)', [tx.scope.environmentId]);
  const values = [tx.scope.environmentId, meter.id];
  const [known] = await tx.rows<{ there: boolean }>(isRolledUpText, values);
  const keepsDropped = known?.there === true;
  if (keepsDropped) await carryDropped(tx, meter.id);
  for (const text of dropTexts) await tx.rows(text, [...values, keepsDropped]);
  for (const text of buildTexts) await tx.rows(text, [...values, keepsDropped]);
  await restartBuild(tx, values);
}

/** What a build in the background had come to is gone: a new meter is whole now, a changed one is built from the beginning. */
async function restartBuild(tx: ScopedSql, values: readonly string[]): Promise<void> {
  const own = `b.env = (select number from environment where id = $1) and b.meter_id = $2`;
  await tx.rows(`delete from usage.meter_build b where ${own} and b.is_first`, values);
  const restarted = await tx.rows(
    `update usage.meter_build b set position = 0, boundary = (select last_value from usage.event_seq) where ${own} returning meter`,
    values,
  );
  if (restarted.length > 0) for (const text of carryIntoBuildTexts) await tx.rows(text, values);
}

/** Gives the version of the row the roll-ups of the version before it, of times that retention dropped events of. */
export async function carryDropped(tx: ScopedSql, meterId: string): Promise<void> {
  for (const text of carryTexts) await tx.rows(text, [tx.scope.environmentId, meterId]);
}

/** How the meter `m` reads an event: for `measuredValue` and `matchingEventsText`. */
export const measuredColumns = `m.aggregation ->> 'field' as field, m.aggregation ->> 'type' as type,
    case when m.expression_program is not null then array(select jsonb_array_elements_text(m.expression_program)) end as program,
    m.aggregation ->> 'group_by' as group_by, usage.rollup_grain(m.aggregation ->> 'bucket_size') as grain`;

/** The version of a meter in force; `name` is null where no event had its name yet. */
export const meterText = `
  select m.number as meter, m.version, m.filters, ${measuredColumns}, environment.number as env, name.number as event_name
  from meter m join environment on environment.id = m.environment_id
  left join usage.event_name name on name.env = environment.number and name.name = m.event_name
  where m.environment_id = $1 and m.id = $2`;

/** The version that is being built beside it. */
export const builtMeterText = `
  select m.number as meter, b.version, b.filters, ${measuredColumns}, environment.number as env, name.number as event_name
  from meter m join environment on environment.id = m.environment_id
  join usage.meter_build b on b.env = environment.number and b.meter = m.number
  left join usage.event_name name on name.env = environment.number and name.name = m.event_name
  where m.environment_id = $1 and m.id = $2`;

const isRolledUpText = `with m as (${meterText}) select exists (select from usage.rollup r join m on r.env = m.env and r.meter = m.meter) as there`;

/** Whether retention dropped events of the subject and the meter's name from `start` on or after: of that row of aggregates. */
const isDropped = (
  row: string,
  start: string,
) => `exists (select from usage.dropped_usage d where d.env = m.env and d.subject = ${row}.subject
    and d.event_name = m.event_name and d.dropped_until > ${start})`;
const dayStart = `(r.day::timestamp at time zone 'UTC')`;
const eventHour = `date_bin(m.grain, e.ts, '1970-01-01Z')`;
const eventDay = `date_trunc('day', e.ts, 'UTC')`;

/** The matching events of a meter as (subject, ts, ingested_at, id, quantity, distinct digest). */
export const matchingEvents = (where: string) => `
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

const rollupColumns = 'env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv';

/** Rolls the matching events of meters up, in the order of the primary key. */
export const rollUpText = (meters: string, where: string, onConflict = '') => `
with m as materialized (${meters}), matched as (${matchingEvents(where)})
insert into usage.rollup as r (${rollupColumns}) ${rolledText}
order by meter, version, subject, date_bin(grain, ts, '1970-01-01Z'), group_key collate "C" ${onConflict}`;

/** Notes the distinct values of the matching events of meters. */
export const noteDistinctText = (meters: string, where: string) => `
with m as materialized (select * from (${meters}) as meter where type = 'COUNT_UNIQUE'), matched as (${matchingEvents(where)})
insert into usage.distinct_value (env, meter, version, subject, day, h)
select distinct env, meter, version, subject, (ts at time zone 'UTC')::date as day, h from matched where h is not null
order by env, meter, version, subject, day, h on conflict do nothing`;

/** The events of the two texts above that are not carried over; $3 says whether any are. */
export const uncarried = {
  rollup: `and not ($3::boolean and ${isDropped('e', eventHour)})`,
  distinct: `and not ($3::boolean and ${isDropped('e', eventDay)})`,
};

const buildTexts = [rollUpText(meterText, uncarried.rollup), noteDistinctText(meterText, uncarried.distinct)];

const dropTexts = (
  [
    ['usage.rollup', 'r.bucket'],
    ['usage.distinct_value', dayStart],
  ] as const
).map(
  ([table, start]) => `with m as materialized (${meterText})
  delete from ${table} r using m where r.env = m.env and r.meter = m.meter
    and not ($3::boolean and r.version = m.version and ${isDropped('r', start)})`,
);

const carryText = (meters: string, table: string, columns: string, start: string) => `
with m as materialized (${meters}), earlier as (
  select r.*, m.version as next from ${table} r join m on r.env = m.env and r.meter = m.meter
  where r.version = (select max(v.version) from usage.meter_version v where v.env = m.env and v.meter = m.meter and v.version < m.version)
    and ${isDropped('r', start)})
insert into ${table} (env, meter, version, ${columns}) select env, meter, next, ${columns} from earlier on conflict do nothing`;

const carriedColumns = {
  rollup: 'subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv',
  distinct: 'subject, day, h',
};
const carryTextsOf = (meters: string) => [
  carryText(meters, 'usage.rollup', carriedColumns.rollup, 'r.bucket'),
  carryText(meters, 'usage.distinct_value', carriedColumns.distinct, dayStart),
];
const carryTexts = carryTextsOf(meterText);
export const carryIntoBuildTexts = carryTextsOf(builtMeterText);

/** Such a text for the events of one subject in [from, to), given by these parameters. */
export function withinSpan(text: string, [subject, from, to]: readonly [string, string, string]): string {
  const where = `and e.subject = ${subject}::bigint and e.ts >= ${from}::timestamptz and e.ts < ${to}::timestamptz`;
  return text.replace(matchingEventsText, () => matchingEvents(where));
}

/**
 * Builds the buckets of a meter anew that hold the events of one subject in an hour, and its distinct values of that day; those
 * of a version that is being built from what it has come to. The caller holds the lock of the environment, so that no event is
 * counted meanwhile. design: usage.md Afterwards
 */
export async function rebuildBuckets(
  tx: ScopedSql,
  meterId: string,
  at: { subject: string; ts: string },
): Promise<void> {
  for (const { unit, texts } of rebuilds) {
    const [span] = await tx.rows<{ began: string; ended: string }>(
      `select date_trunc($1, $2::timestamptz, 'UTC') as began, date_trunc($1, $2::timestamptz, 'UTC') + ('1 ' || $1)::interval as ended`,
      [unit, at.ts],
    );
    const values = [tx.scope.environmentId, meterId, at.subject, span?.began, span?.ended];
    for (const text of texts) await tx.rows(text, values);
  }
}

const within = 'and e.subject = $3::bigint and e.ts >= $4::timestamptz and e.ts < $5::timestamptz';
const whole = `${within} and not exists (select from usage.meter_build b where b.env = m.env and b.meter = m.meter and b.is_first)`;
const alreadyBuilt = `${within} and exists (select from usage.meter_build b where b.env = m.env and b.meter = m.meter
  and (e.seq <= b.position or e.seq > b.boundary))`;
const dropSpanText = (table: string, span: string) => `with m as materialized (${meterText})
  delete from ${table} r using m where r.env = m.env and r.meter = m.meter and r.subject = $3::bigint and ${span}`;
const rebuilds = [
  {
    unit: 'hour',
    texts: [
      dropSpanText('usage.rollup', 'r.bucket >= $4::timestamptz and r.bucket < $5::timestamptz'),
      rollUpText(meterText, whole),
      rollUpText(builtMeterText, alreadyBuilt),
    ],
  },
  {
    unit: 'day',
    texts: [
      dropSpanText(
        'usage.distinct_value',
        `r.day >= ($4::timestamptz at time zone 'UTC')::date and r.day < ($5::timestamptz at time zone 'UTC')::date`,
      ),
      noteDistinctText(meterText, whole),
      noteDistinctText(builtMeterText, alreadyBuilt),
    ],
  },
];

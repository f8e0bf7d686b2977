import type { Scope } from '../../db/scope.ts';
import type { ScopedSql, Sql } from '../../db/transaction.ts';
import {
  buildMeterRollups,
  builtMeterText,
  carryIntoBuildTexts,
  noteDistinctText,
  rollUpText,
  uncarried,
} from './build-rollups.ts';
import { environmentNumber } from './environment-number.ts';
import { addedWithLatest } from './text/append-text.ts';
import { isUnbuilt } from './unbuilt-meter.ts';

/**
 * Above so many bytes of events a meter is not built in the transaction that makes or changes it, for which writers wait, but in
 * the background. A database may be given another limit as `perennial.inline_build_bytes`.
 */
const inlineBytes = 32 * 1024 * 1024;

/** How many events of all environments, in the order of their coming, one step of a build looks at. */
const chunkEvents = 20_000;

/**
 * Makes a meter count by what its row says, in the transaction that wrote it. It is built at once in a small installation, and
 * where no event had its name yet. Else a new meter is read from events until it is built, and of a changed one the row goes back
 * to the version in force and the new one is built beside it: true then, and `buildChunk` is to be called until it is done.
 * Writers of the environment wait until the commit. spec: catalogue-and-metering §5.2; design: usage.md Closing and afterwards
 */
export async function applyMeter(tx: ScopedSql, meter: { id: string }): Promise<boolean> {
  await tx.rows('select usage.raise_catalogue_version($1)', [tx.scope.environmentId]);
  const env = await environmentNumber(tx, tx.scope);
  const [row] = await tx.rows<Judgement>(judgeText, [env, tx.scope.environmentId, meter.id, inlineBytes]);
  if (row?.has_build && !row.is_changed) return true;
  if (row?.is_large && row.is_changed && (row.is_seen || !row.is_first)) {
    await (row.is_first ? planFirstBuild : planBuild)(tx, env, meter.id);
    return true;
  }
  await forgetBuild(tx, env, meter.id);
  await buildMeterRollups(tx, meter);
  return false;
}

interface Judgement {
  /** It was never built: it is new, or was changed while it was. */
  is_first: boolean;
  /** Events had its name before it. */
  is_seen: boolean;
  is_changed: boolean;
  has_build: boolean;
  is_large: boolean;
  [column: string]: unknown;
}

const judgeText = `
select ${isUnbuilt('m.number')}
    or not exists (select from usage.meter_version v where v.env = $1 and v.meter = m.number and v.version < m.version) as is_first,
  exists (select from usage.event_name name where name.env = $1 and name.name = m.event_name) as is_seen,
  exists (select from usage.meter_version v where v.env = $1 and v.meter = m.number and v.version = m.version
    and v.txid = pg_current_xact_id()) as is_changed,
  exists (select from usage.meter_build b where b.env = $1 and b.meter = m.number) as has_build,
  (select coalesce(sum(pg_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'usage.event'::regclass)
    > coalesce(nullif(current_setting('perennial.inline_build_bytes', true), '')::bigint, $4) as is_large
from meter m where m.environment_id = $2 and m.id = $3`;

/**
 * Notes what is to be built and takes the row back to the version in force. Writers are locked out, so every event is either
 * there and before the boundary, or comes after the commit and is added to both versions by its writer.
 */
async function planBuild(tx: ScopedSql, env: number, meterId: string): Promise<void> {
  const values = [env, tx.scope.environmentId, meterId];
  await forgetBuild(tx, env, meterId);
  await tx.rows(planText, values);
  await tx.rows(
    `delete from usage.meter_version v using meter m where v.env = $1 and m.environment_id = $2 and m.id = $3
     and v.meter = m.number and v.version = m.version`,
    values,
  );
  await tx.rows(
    `update meter m set version = v.version, filters = v.filters from (
       select v.* from usage.meter_version v join meter m on m.number = v.meter
       where v.env = $1 and m.environment_id = $2 and m.id = $3 order by v.version desc limit 1) v
     where m.environment_id = $2 and m.id = $3`,
    values,
  );
  for (const text of carryIntoBuildTexts) await tx.rows(text, [tx.scope.environmentId, meterId]);
}

// A version that began to be built and was changed again is never given its number again.
const planText = `
insert into usage.meter_build (env, meter, meter_id, version, filters, boundary)
select $1, m.number, m.id, greatest(m.version, (select max(r.version) + 1 from usage.rollup r where r.env = $1 and r.meter = m.number)),
  m.filters, (select last_value from usage.event_seq)
from meter m where m.environment_id = $2 and m.id = $3`;

/** Notes that a new meter is to be built. Its version is in force already, and its writers add what comes from now on. */
async function planFirstBuild(tx: ScopedSql, env: number, meterId: string): Promise<void> {
  await forgetBuild(tx, env, meterId);
  await tx.rows(
    `insert into usage.meter_build (env, meter, meter_id, version, filters, boundary, is_first)
     select $1, number, id, version, filters, (select last_value from usage.event_seq), true from meter
     where environment_id = $2 and id = $3`,
    [env, tx.scope.environmentId, meterId],
  );
}

async function forgetBuild(tx: ScopedSql, env: number, meterId: string): Promise<void> {
  const [build] = await tx.rows<{ meter: number; version: number }>(
    'delete from usage.meter_build where env = $1 and meter_id = $2 returning meter, version',
    [env, meterId],
  );
  if (build) await dropVersion(tx, env, build.meter, '=', build.version);
}

async function dropVersion(sql: Sql, env: number, meter: number, which: '=' | '<', version: number): Promise<void> {
  for (const table of ['rollup', 'distinct_value']) {
    const where = `env = $1 and meter = $2 and version ${which} $3`;
    await sql.rows(`delete from usage.${table} where ${where}`, [env, meter, version]);
  }
}

/** How far the build of a meter is. */
export interface BuildStanding {
  /** Of the order in which events came, this much is built. */
  readonly position: number;
  readonly boundary: number;
}

/**
 * Builds one chunk of a meter's next version and notes it, in the caller's transaction; null when nothing is being built. Voids
 * wait for it and it for them; whoever is killed has done all of a chunk or nothing.
 */
export async function buildChunk(tx: ScopedSql, meterId: string, events = chunkEvents): Promise<BuildStanding | null> {
  const env = await environmentNumber(tx, tx.scope);
  await tx.rows('select pg_advisory_xact_lock_shared(7101, $1)', [env]);
  const [build] = await tx.rows<{ position: string; boundary: string }>(
    'select position::text, boundary::text from usage.meter_build where env = $1 and meter_id = $2 for update',
    [env, meterId],
  );
  if (!build) return null;
  const from = Number(build.position);
  const boundary = Number(build.boundary);
  const position = Math.min(from + events, boundary);
  if (from < boundary) {
    const values = [tx.scope.environmentId, meterId, true, from, position];
    await tx.rows(chunkRollupText, values);
    await tx.rows(chunkDistinctText, values);
    await tx.rows('update usage.meter_build set position = $3 where env = $1 and meter_id = $2', [
      env,
      meterId,
      position,
    ]);
  }
  return { position, boundary };
}

const inChunk = 'and e.seq > $4::bigint and e.seq <= $5::bigint';
const chunkRollupText = rollUpText(builtMeterText, `${uncarried.rollup} ${inChunk}`, addedWithLatest);
const chunkDistinctText = noteDistinctText(builtMeterText, `${uncarried.distinct} ${inChunk}`);

/**
 * Puts the built version in force: from the commit on every answer is by it, before it none; a new meter is read from its roll-ups
 * then. False when there is nothing that is
 * built whole. What the version before it had is taken away by `dropEarlierVersions`.
 */
export async function switchVersion(tx: ScopedSql, meterId: string): Promise<boolean> {
  await tx.rows('select usage.raise_catalogue_version($1)', [tx.scope.environmentId]);
  const env = await environmentNumber(tx, tx.scope);
  const switched = await tx.rows(
    `with built as (delete from usage.meter_build where env = $1 and meter_id = $3 and position >= boundary returning version, filters)
     update meter m set version = built.version, filters = built.filters,
       updated_at = case when m.version = built.version then m.updated_at else now() end from built
     where m.environment_id = $2 and m.id = $3 returning m.id`,
    [env, tx.scope.environmentId, meterId],
  );
  return switched.length > 0;
}

/** Takes away the roll-ups of the versions before the one in force. Harmless to repeat. */
export async function dropEarlierVersions(tx: ScopedSql, meterId: string): Promise<void> {
  const env = await environmentNumber(tx, tx.scope);
  const [meter] = await tx.rows<{ number: number; version: number }>(
    'select number, version from meter where environment_id = $1 and id = $2',
    [tx.scope.environmentId, meterId],
  );
  if (meter) await dropVersion(tx, env, meter.number, '<', meter.version);
}

/** The meters of the environment that have a version being built. */
export async function pendingBuilds(sql: Sql, scope: Scope): Promise<string[]> {
  const env = await environmentNumber(sql, scope);
  const rows = await sql.rows<{ meter_id: string }>(
    'select meter_id from usage.meter_build where env = $1 order by meter_id',
    [env],
  );
  return rows.map(({ meter_id }) => meter_id);
}

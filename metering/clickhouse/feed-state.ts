import type { Sql } from '../../db/transaction.ts';
import { emptySnapshot } from './snapshot.ts';

/** How far the engine was fed. design: usage.md The engine contract */
export interface FeedState {
  readonly generation: number;
  /** The last whole round: rows of later ones are not asked for. */
  readonly round: number;
  /** Every event that it sees has arrived. */
  readonly snapshot: string;
  /** The meters whose expressions have their values in the engine. */
  readonly meters: readonly number[];
  /** The round under way, which brings what `planned` sees and `snapshot` does not. */
  readonly planned: string | null;
  /** A meter whose expression came later: the round brings what `snapshot` sees, for it alone. */
  readonly plannedMeter: number | null;
  readonly fedChunk: number | null;
}

interface StateRow {
  generation: number;
  round: string;
  snapshot: string;
  meters: number[];
  planned: string | null;
  planned_meter: number | null;
  fed_chunk: string | null;
  [column: string]: unknown;
}

/** The state of the feed; null before the first one. */
export async function readFeedState(sql: Sql): Promise<FeedState | null> {
  const [row] = await sql.rows<StateRow>(
    `select generation, round::text as round, snapshot::text as snapshot, meters, planned::text as planned, planned_meter,
      fed_chunk::text as fed_chunk from usage.engine_feed`,
  );
  if (!row) return null;
  return {
    generation: row.generation,
    round: Number(row.round),
    snapshot: row.snapshot,
    meters: row.meters,
    planned: row.planned,
    plannedMeter: row.planned_meter,
    fedChunk: row.fed_chunk === null ? null : Number(row.fed_chunk),
  };
}

/** Begins a generation after `taken`: nothing has been fed. Tells the number of the one before, or null. */
export async function beginGeneration(sql: Sql, taken: number): Promise<{ generation: number; before: number | null }> {
  await sql.rows('select usage.index_for_engine_feed()');
  const before = (await readFeedState(sql))?.generation ?? null;
  const generation = Math.max(before ?? 0, taken) + 1;
  await sql.rows('delete from usage.engine_feed');
  await sql.rows('insert into usage.engine_feed (generation, snapshot) values ($1, $2)', [generation, emptySnapshot]);
  return { generation, before };
}

/** What was brought in each round, for the transactions `e.txid` of events: by an index that only such deployments have. */
export const writtenSince = (snapshot: string): string =>
  `e.txid::text::bigint >= pg_snapshot_xmin(${snapshot})::text::bigint and not pg_visible_in_snapshot(e.txid, ${snapshot})`;

/**
 * Plans the next round, or finds the one that was under way; null when nothing has arrived. A plan never changes: whoever goes
 * on with it brings the same rows.
 */
export async function planRound(sql: Sql): Promise<FeedState | null> {
  await sql.rows('select 1 from usage.engine_feed for update');
  const state = await readFeedState(sql);
  if (!state || state.planned !== null) return state;
  const [meter] = await sql.rows<{ number: number }>(
    'select number from meter where expression_program is not null and number <> all($1::int[]) order by number limit 1',
    [state.meters],
  );
  if (meter && state.snapshot === emptySnapshot) {
    await sql.rows(
      `update usage.engine_feed set meters = array(
        select number from meter where expression_program is not null order by number)`,
    );
  } else if (meter) {
    await sql.rows('update usage.engine_feed set planned = snapshot, planned_meter = $1', [meter.number]);
    return readFeedState(sql);
  }
  const [arrived] = await sql.rows<{ has_any: boolean }>(
    `select exists (select from usage.event e where ${writtenSince('f.snapshot')})
      or exists (select from usage.event e where e.env < 0 and not pg_visible_in_snapshot(e.voided, f.snapshot))
      as has_any from usage.engine_feed f`,
  );
  if (!arrived?.has_any) return null;
  await sql.rows('update usage.engine_feed set planned = pg_current_snapshot()');
  return readFeedState(sql);
}

/** Notes that the chunks of a round up to this one have arrived. False when somebody else has taken the round over. */
export async function noteChunk(sql: Sql, state: FeedState, chunk: number, rows: number): Promise<boolean> {
  const updated = await sql.rows(
    `update usage.engine_feed set fed_chunk = $3, fed_rows = fed_rows + $4, fed_at = now()
     where generation = $1 and round = $2 and planned is not null and coalesce(fed_chunk, -1) < $3 returning 1`,
    [state.generation, state.round, chunk, rows],
  );
  return updated.length > 0;
}

/** Ends a round: from the commit on, readers ask the engine for what it brought. Ending it twice changes nothing. */
export async function endRound(sql: Sql, state: FeedState): Promise<void> {
  await sql.rows(
    `update usage.engine_feed set round = round + 1, snapshot = planned, planned = null, fed_chunk = null, fed_at = now(),
       meters = case when planned_meter is null then meters else meters || planned_meter end, planned_meter = null
     where generation = $1 and round = $2 and planned is not null`,
    [state.generation, state.round],
  );
}

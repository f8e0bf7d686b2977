import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import type { ExpressionProgram } from '../expression-program.ts';
import type { ClickHouse } from './connection.ts';
import {
  beginGeneration,
  endRound,
  type FeedState,
  noteChunk,
  planRound,
  readFeedState,
  writtenSince,
} from './feed-state.ts';
import { type KeptEvent, keptEventColumns, measuredEvent } from './measured-event.ts';
import {
  dropTables,
  eventColumns,
  eventTable,
  greatestGeneration,
  makeTables,
  voidColumns,
  voidTable,
} from './tables.ts';

/** Places in the order of ingestion that one insert covers. Fixed: an insert that is repeated covers the same. */
const placesAChunk = 20_000;

export interface FeedProgress {
  readonly round: number;
  readonly chunk: number;
  readonly rows: number;
}

export interface Feed {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  /** Hears of each insert that has arrived; what it throws ends the feed, which goes on where it was. */
  readonly onProgress?: (progress: FeedProgress) => void;
}

/** Begins anew from the first event: the tables of a new generation, and then none of the old. */
export async function beginFeed({ database, clickhouse }: Feed): Promise<void> {
  const { before } = await inSqlTransaction(database, systemScope, async (tx) => {
    // Tables that another installation, or a later backup, left there are nobody's of this one.
    const begun = await beginGeneration(tx, await greatestGeneration(clickhouse));
    // Whoever sees the generation sees its tables.
    await makeTables(clickhouse, begun.generation);
    return begun;
  });
  if (before !== null) await dropTables(clickhouse, before);
}

/**
 * Brings what has arrived since the last round into ClickHouse, in the order of ingestion; false when there was nothing. A
 * round is planned before its first insert and read from rows that never change, in chunks whose tokens say their place: a
 * feeder that is killed is followed by one that sends at most one insert again, which ClickHouse then knows. Two feeders at once
 * do each other no harm. design: usage.md The engine contract
 */
export async function feedRound(feed: Feed): Promise<boolean> {
  const { database } = feed;
  const state = (await inSqlTransaction(database, systemScope, planRound)) ?? (await firstRound(feed));
  if (!state) return false;
  const chunks = await inSqlTransaction(database, systemScope, (tx) => chunksOf(tx, state));
  const programs = await inSqlTransaction(database, systemScope, (tx) => programsOf(tx, state));
  for (const chunk of chunks) {
    const rows = await feedChunk(feed, state, chunk, programs);
    const isOurs = await inSqlTransaction(database, systemScope, (tx) => noteChunk(tx, state, chunk, rows));
    if (!isOurs) return true;
    feed.onProgress?.({ round: state.round + 1, chunk, rows });
  }
  if (state.plannedMeter === null) await feedVoids(feed, state);
  await inSqlTransaction(database, systemScope, (tx) => endRound(tx, state));
  return true;
}

/** Begins the first generation where there is none. */
async function firstRound(feed: Feed): Promise<FeedState | null> {
  const known = await inSqlTransaction(feed.database, systemScope, readFeedState);
  if (known) return null;
  await beginFeed(feed);
  return inSqlTransaction(feed.database, systemScope, planRound);
}

/** The events of a round. Parameters: 1 the snapshot before, 2 the round's, 3 the name of a meter's events or null. */
function roundText(state: FeedState): string {
  return state.plannedMeter === null
    ? `${writtenSince('$1::pg_snapshot')} and pg_visible_in_snapshot(e.txid, $2::pg_snapshot)`
    : `$1::text is not null and pg_visible_in_snapshot(e.txid, $2::pg_snapshot)
       and exists (select from meter m join environment on environment.id = m.environment_id
         join usage.event_name name on name.env = environment.number and name.name = m.event_name
         where m.number = ${Math.trunc(state.plannedMeter)} and environment.number = abs(e.env) and name.number = e.event_name)`;
}

async function chunksOf(sql: Sql, state: FeedState): Promise<number[]> {
  const rows = await sql.rows<{ chunk: string }>(
    `select distinct (e.seq / ${placesAChunk})::text as chunk, e.seq / ${placesAChunk} as place from usage.event e
     where ${roundText(state)} and e.seq / ${placesAChunk} > $3 order by place`,
    [state.snapshot, state.planned, state.fedChunk ?? -1],
  );
  return rows.map(({ chunk }) => Number(chunk));
}

/** The expressions of a round, by environment and event name. */
type Programs = ReadonlyMap<string, readonly { meter: number; program: ExpressionProgram }[]>;

async function programsOf(sql: Sql, state: FeedState): Promise<Programs> {
  const meters = state.plannedMeter === null ? state.meters : [state.plannedMeter];
  const rows = await sql.rows<{ meter: number; place: string; program: ExpressionProgram }>(
    `select m.number as meter, environment.number || ' ' || name.number as place, m.expression_program as program
     from meter m join environment on environment.id = m.environment_id
     join usage.event_name name on name.env = environment.number and name.name = m.event_name
     where m.number = any($1::int[]) order by m.number`,
    [meters],
  );
  return Map.groupBy(rows, ({ place }) => place);
}

async function feedChunk(feed: Feed, state: FeedState, chunk: number, programs: Programs): Promise<number> {
  const events = await inSqlTransaction(feed.database, systemScope, (tx) =>
    tx.rows<KeptEvent & Record<string, unknown>>(
      `select ${keptEventColumns} from usage.event e
       where ${roundText(state)} and e.seq >= $3 and e.seq < $4 order by e.seq`,
      [state.snapshot, state.planned, chunk * placesAChunk, (chunk + 1) * placesAChunk],
    ),
  );
  const round = state.round + 1;
  const rows = events.flatMap((event) => fedRows(event, round, state.plannedMeter === null, programs));
  if (rows.length > 0) {
    const token = `${state.generation}:${round}:${chunk}`;
    await feed.clickhouse.insert(eventTable(state.generation), eventColumns, rows, token);
  }
  return rows.length;
}

/** The rows of an event: itself, and one for each expression that has a value for it. */
function fedRows(event: KeptEvent, round: number, isWhole: boolean, programs: Programs): unknown[][] {
  const measured = measuredEvent(event.props);
  const { env, event_name, subject, ts, seq, txid, ingested_at, id, source } = event;
  const row = (measure: number, values: object, quantity: string) => {
    return [
      env,
      measure,
      event_name,
      subject,
      ts,
      seq,
      round,
      txid,
      ingested_at,
      id,
      source,
      measured.forms,
      values,
      quantity,
    ];
  };
  const computed = (programs.get(`${env} ${event_name}`) ?? []).flatMap(({ meter, program }) => {
    const quantity = measured.valueBy(program);
    return quantity === null ? [] : [row(meter, {}, quantity)];
  });
  return isWhole ? [row(0, measured.quantities, '0'), ...computed] : computed;
}

async function feedVoids({ database, clickhouse }: Feed, state: FeedState): Promise<void> {
  const voided = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<{ env: number; seq: string; voided: string }>(
      `select -e.env as env, e.seq::text as seq, e.voided::text as voided from usage.event e
       where e.env < 0 and not pg_visible_in_snapshot(e.voided, $1::pg_snapshot)
         and pg_visible_in_snapshot(e.voided, $2::pg_snapshot) order by e.seq`,
      [state.snapshot, state.planned],
    ),
  );
  if (voided.length === 0) return;
  const round = state.round + 1;
  const rows = voided.map(({ env, seq, voided: by }) => [env, seq, by, round]);
  await clickhouse.insert(voidTable(state.generation), voidColumns, rows, `${state.generation}:${round}:voids`);
}

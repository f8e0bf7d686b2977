import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import type { ClickHouse } from './connection.ts';
import { readFeedState, writtenSince } from './feed-state.ts';
import { integer, isNumberOf } from './literal.ts';
import { eventTable, voidTable } from './tables.ts';

/**
 * Why events of a partition of PostgreSQL from before an instant must not be dropped yet: the engine was not fed all of them, not
 * with all that they were since, or not for every expression. Null when it has taken everything; until the transaction ends
 * nobody can begin the feed anew. design: usage.md The engine contract
 */
export async function untakenReason(sql: Sql, partition: string, before: string): Promise<string | null> {
  const values = [partition, before];
  const [feed] = await sql.rows('select 1 from usage.engine_feed for key share');
  const [any] = await sql.rows(`select 1 from usage.event e where ${ofPartition} limit 1`, values);
  if (!any) return null;
  if (!feed) return 'the usage feed has not begun';
  const [row] = await sql.rows<{ lacks_events: boolean; lacks_voids: boolean; meter: number | null }>(
    untakenText,
    values,
  );
  if (row?.lacks_events) return 'the usage feed has not taken all of its events';
  if (row?.lacks_voids) return 'the usage feed has not taken all voids of its events';
  if (row?.meter) return `the usage feed has not taken the values of the expression of meter ${row.meter}`;
  return null;
}

// A table that is not there holds nothing. The parent is asked, whose policies let the system read.
const ofPartition = `e.tableoid = to_regclass('usage.' || quote_ident($1)) and e.ingested_at < $2`;
const untakenText = `
select exists (select from usage.event e where ${ofPartition} and ${writtenSince('f.snapshot')}) as lacks_events,
  exists (select from usage.event e where ${ofPartition} and e.env < 0
    and not pg_visible_in_snapshot(e.voided, f.snapshot)) as lacks_voids,
  (select min(number) from meter where expression_program is not null and number <> all(f.meters)) as meter
from usage.engine_feed f`;

/** So many events that are kept stand in one statement. */
const keptAStatement = 100_000;

/**
 * Drops from ClickHouse what PostgreSQL has dropped: events of months that have no partition there any more, but for those that
 * were kept, and their voids. Answers how many rows. Harmless to repeat; what a killed run left over the next one finds.
 */
export async function dropUnkept(stores: { database: Database; clickhouse: ClickHouse }): Promise<number> {
  const { database, clickhouse } = stores;
  const state = await inSqlTransaction(database, systemScope, readFeedState);
  if (!state) return 0;
  const table = eventTable(state.generation);
  const parts = await clickhouse.rows<[string]>(
    `select distinct partition_id from system.parts where database = currentDatabase() and table = '${table}' and active`,
  );
  const months = parts.map(([month]) => month).filter((month) => /^[0-9]{6}$/.test(month));
  let dropped = 0;
  for (const month of await inSqlTransaction(database, systemScope, (tx) => droppedMonths(tx, months))) {
    dropped += await dropMonth(stores, table, month);
  }
  if (dropped > 0) {
    await clickhouse.run(`alter table ${voidTable(state.generation)} delete
      where seq not in (select seq from ${table} where measure = 0) settings mutations_sync = 1`);
  }
  return dropped;
}

/** Of months, those that retention dropped: nothing is ingested into them any more. */
async function droppedMonths(sql: Sql, months: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ month: string }>(
    `select month from unnest($1::text[]) month where to_regclass('usage.event_' || month) is null
       and exists (select from usage.dropped_partition d where d.part = 'event_' || month) order by month`,
    [months],
  );
  return rows.map(({ month }) => month);
}

/** Drops a month's events but those that PostgreSQL has, in the order of ingestion; an event that came twice is one place. */
async function dropMonth(
  { database, clickhouse }: { database: Database; clickhouse: ClickHouse },
  table: string,
  month: string,
): Promise<number> {
  let dropped = 0;
  for (let after: string | null = '0'; after !== null; ) {
    const kept: string[] = await inSqlTransaction(database, systemScope, (tx) => keptPlaces(tx, month, after ?? '0'));
    const last: string | null = kept.length < keptAStatement ? null : (kept.at(-1) ?? null);
    const upTo = last === null ? '' : `and seq <= ${integer(last)}`;
    const gone = `seq > ${integer(after)} ${upTo} and not ${isNumberOf('seq', kept)}`;
    const [found] = await clickhouse.rows<[string]>(
      `select toString(count()) from ${table} where _partition_id = '${month}' and ${gone}`,
    );
    const count = Number(found?.[0] ?? 0);
    if (count > 0) {
      const isWhole = after === '0' && kept.length === 0;
      await clickhouse.run(
        isWhole
          ? `alter table ${table} drop partition id '${month}'`
          : `alter table ${table} delete in partition id '${month}' where ${gone} settings mutations_sync = 1`,
      );
    }
    dropped += count;
    after = last;
  }
  return dropped;
}

/** The next places in the order of ingestion of events of a month that PostgreSQL has. */
async function keptPlaces(sql: Sql, month: string, after: string): Promise<string[]> {
  const rows = await sql.rows<{ seq: string }>(
    `select e.seq::text as seq from usage.event e
     where e.ingested_at >= to_timestamp($1, 'YYYYMM')::timestamp at time zone 'UTC'
       and e.ingested_at < (to_timestamp($1, 'YYYYMM')::timestamp + interval '1 month') at time zone 'UTC'
       and e.seq > $2 order by e.seq limit ${keptAStatement}`,
    [month, after],
  );
  return rows.map(({ seq }) => seq);
}

import type { ClickHouse } from './connection.ts';

/** The tables of one generation: a backfill from the beginning makes new ones, and readers of the old never see half. */
export const eventTable = (generation: number) => `usage_event_${Math.trunc(generation)}`;
export const voidTable = (generation: number) => `usage_void_${Math.trunc(generation)}`;

/** Tokens of so many inserts are remembered; a feeder that was killed sends one again. */
const rememberedInserts = 1_000;

/** Nothing is acknowledged before it is on disk. */
const durable = `non_replicated_deduplication_window = ${rememberedInserts}, fsync_after_insert = 1, fsync_part_directory = 1`;

/**
 * Events with what a question can ask of them already computed by the program that meters them: each property's text form and
 * quantity, and for the meters with an expression a row of their own (`measure` is the meter's number, else 0) with its value.
 * Instants are microseconds since 1970, because ClickHouse's own end before the year 2300; quantities are decimals of 256 bits.
 */
const eventTableText = (table: string) => `create table if not exists ${table} (
  env Int32, measure Int32, event_name Int32, subject Int64, ts Int64, seq Int64, round Int64, txid Int64,
  ingested_at Int64, id String, source String, forms Map(String, String), quantities Map(String, Decimal(76, 15)),
  quantity Decimal(76, 15)
) engine = MergeTree partition by toYYYYMM(fromUnixTimestamp64Micro(ingested_at, 'UTC'))
order by (env, measure, event_name, subject, ts, seq) settings ${durable}`;

/** The columns of an event that questions read, for events that have not arrived yet. */
export const readColumns = [
  'subject',
  'ts',
  'ingested_at',
  'txid',
  'id',
  'source',
  'forms',
  'quantities',
  'quantity',
] as const;
export const readStructure =
  'subject Int64, ts Int64, ingested_at Int64, txid Int64, id String, source String, forms Map(String, String), quantities Map(String, Decimal(76, 15)), quantity Decimal(76, 15)';

export const eventColumns = [
  'env',
  'measure',
  'event_name',
  'subject',
  'ts',
  'seq',
  'round',
  'txid',
  'ingested_at',
  'id',
  'source',
  'forms',
  'quantities',
  'quantity',
] as const;

/** Events that were voided, by the transaction that did it: they stay where they are. */
const voidTableText = (table: string) => `create table if not exists ${table} (
  env Int32, seq Int64, voided Int64, round Int64
) engine = MergeTree order by (env, seq) settings ${durable}`;

export const voidColumns = ['env', 'seq', 'voided', 'round'] as const;

/** Makes the tables of a generation where they do not exist. */
export async function makeTables(clickhouse: ClickHouse, generation: number): Promise<void> {
  await clickhouse.run(eventTableText(eventTable(generation)));
  await clickhouse.run(voidTableText(voidTable(generation)));
}

/** Drops the tables of a generation. */
export async function dropTables(clickhouse: ClickHouse, generation: number): Promise<void> {
  await clickhouse.run(`drop table if exists ${eventTable(generation)}`);
  await clickhouse.run(`drop table if exists ${voidTable(generation)}`);
}

/** The greatest generation that the database has tables of; 0 without any. */
export async function greatestGeneration(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rows<[number]>(
    `select max(toInt32OrZero(substring(name, 13))) from system.tables
     where database = currentDatabase() and name like 'usage\\_event\\_%'`,
  );
  return row?.[0] ?? 0;
}

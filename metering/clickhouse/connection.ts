import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

/** Where the engine is: `http://user:password@host:8123/database`. */
export interface ClickHouseSettings {
  readonly url: string;
}

export interface ClickHouse {
  /** Runs a statement that returns nothing. */
  run(text: string): Promise<void>;
  /** The rows of a select, each a list of its columns. */
  rows<Row extends readonly unknown[]>(text: string): Promise<Row[]>;
  /** Tells `take` the rows of a select one by one, as they arrive. */
  each<Row extends readonly unknown[]>(text: string, take: (row: Row) => void): Promise<void>;
  /** Inserts rows once: a second insert with the same token does nothing. */
  insert(table: string, columns: readonly string[], rows: readonly unknown[], token: string): Promise<void>;
  close(): Promise<void>;
}

/** ClickHouse did not answer, or refused a statement. */
export class ClickHouseFailed extends Error {
  override readonly name = 'ClickHouseFailed';
}

/** A statement carries grids and the newest events in its text. */
const maxStatementBytes = 256 * 1024 * 1024;
const requestTimeoutMs = 60_000;

/** Opens a connection pool; nothing is sent before the first statement. */
export function openClickHouse({ url }: ClickHouseSettings): ClickHouse {
  const client = createClient({
    url,
    request_timeout: requestTimeoutMs,
    application: 'perennial',
    // Whoever asked hears of a failure and logs it.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      max_query_size: String(maxStatementBytes),
      // Many questions are one statement of many selects.
      max_ast_elements: '5000000',
      max_expanded_ast_elements: '5000000',
      max_parser_depth: '100000',
      max_parser_backtracks: '100000000',
    },
  });
  return {
    async run(query) {
      await told(client.command({ query }));
    },
    rows: <Row extends readonly unknown[]>(query: string) => told(rowsOf<Row>(client, query)),
    each: (query, take) => told(eachOf(client, query, take)),
    async insert(table, columns, values, token) {
      const inserted = client.insert({
        table,
        columns: columns as [string, ...string[]],
        values: values as unknown[],
        format: 'JSONCompactEachRow',
        clickhouse_settings: { insert_deduplication_token: token, insert_deduplicate: 1, async_insert: 0 },
      });
      await told(inserted);
    },
    close: () => client.close(),
  };
}

async function rowsOf<Row extends readonly unknown[]>(client: ClickHouseClient, query: string): Promise<Row[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<unknown>()) as unknown as Row[];
}

async function eachOf<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  take: (row: Row) => void,
): Promise<void> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  for await (const rows of result.stream<unknown>()) for (const row of rows) take(row.json() as Row);
}

async function told<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw new ClickHouseFailed(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

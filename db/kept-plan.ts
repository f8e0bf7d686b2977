import type { QueryResultRow } from 'pg';
import type { Sql } from './transaction.ts';

/**
 * Rows of a statement that runs with every close, and whose planning costs more than its answer: where the connection is at hand, it
 * keeps the plan under `name`. One name is one text, always.
 */
export async function rowsByKeptPlan<Row extends QueryResultRow>(
  sql: Sql,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  if (!hasConnection(sql)) return sql.rows<Row>(text, values);
  return (await sql.client.query<Row>({ name, text, values: [...values] })).rows;
}

type Connection = {
  query<Row>(statement: { name: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
};

function hasConnection(sql: Sql): sql is Sql & { client: Connection } {
  return 'client' in sql;
}

import pg from 'pg';
import type { TestDatabase } from '../database.ts';

/**
 * Opens a transaction beside the product that holds what `statement` locks, until `end` of the returned connection or its own `commit`. It
 * never checks for deadlocks, so PostgreSQL ends the transaction of the product where both wait for each other.
 */
export async function holdLock(
  { ownerUrl }: Pick<TestDatabase, 'ownerUrl'>,
  statement: string,
  values: unknown[] = [],
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query(`set deadlock_timeout = '1h'`);
  await client.query('begin');
  await client.query(statement, values);
  return client;
}

import pg from 'pg';
import { poll } from '../../../dev/processes.ts';
import type { TestDatabase } from '../database.ts';

const waiting = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** True once at least `count` connections of a test's database wait for a lock; false when that takes longer than 20 seconds. */
export async function locksAreAwaited({ ownerUrl }: Pick<TestDatabase, 'ownerUrl'>, count = 1): Promise<boolean> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const seen = await poll(async () => {
      const { rows } = await client.query<{ count: number }>(waiting);
      return (rows[0]?.count ?? 0) >= count || undefined;
    }, 20_000);
    return seen === true;
  } finally {
    await client.end();
  }
}

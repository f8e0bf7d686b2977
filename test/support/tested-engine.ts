import type { Database } from '../../db/orm.ts';
import { type ClickHouse, openClickHouse } from '../../metering/clickhouse/connection.ts';
import { beginFeed, feedRound } from '../../metering/clickhouse/feed.ts';
import { openClickHouseUsageStore } from '../../metering/clickhouse/usage-store.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import { startClickHouse, type TestClickHouse } from './clickhouse.ts';

export const usageEngines = ['postgres', 'clickhouse'] as const;
export type UsageEngine = (typeof usageEngines)[number];

/** An engine to be tested; `settle` lets it take in what was appended, as its feeder would in time. */
export interface TestedEngine {
  readonly store: UsageStore;
  settle(): Promise<void>;
  /** Why PostgreSQL answered in its place, each time it did. */
  readonly passedOn: readonly string[];
  /** With the ClickHouse engine, what is behind it. */
  readonly behind: { server: TestClickHouse; clickhouse: ClickHouse } | null;
  stop(): Promise<void>;
}

/** Starts an engine over the tables of a database. */
export async function startEngine(engine: UsageEngine, database: Database): Promise<TestedEngine> {
  const postgres = openPostgresUsageStore(database);
  if (engine === 'postgres') {
    return { store: postgres, settle: async () => undefined, passedOn: [], behind: null, stop: () => postgres.close() };
  }
  const server = await startClickHouse();
  const clickhouse = openClickHouse({ url: server.url });
  const passedOn: string[] = [];
  const store = openClickHouseUsageStore({ clickhouse, postgres, onPassedOn: ({ message }) => passedOn.push(message) });
  await beginFeed({ database, clickhouse });
  return {
    store,
    async settle() {
      while (await feedRound({ database, clickhouse }));
    },
    passedOn,
    behind: { server, clickhouse },
    async stop() {
      await store.close();
      await server.stop();
    },
  };
}

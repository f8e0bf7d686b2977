import { afterAll, expect } from 'vitest';
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
  /** With the ClickHouse engine, what is behind it. */
  readonly behind: { server: TestClickHouse; clickhouse: ClickHouse } | null;
}

/** Opens an engine over the tables of a database. What another engine should have answered fails the file. */
export async function openEngine(engine: UsageEngine, database: Database): Promise<TestedEngine> {
  const postgres = openPostgresUsageStore(database);
  if (engine === 'postgres') return { store: postgres, settle: async () => undefined, behind: null };
  const server = await startClickHouse();
  const clickhouse = openClickHouse({ url: server.url });
  const passedOn: string[] = [];
  const store = openClickHouseUsageStore({ clickhouse, postgres, onPassedOn: ({ message }) => passedOn.push(message) });
  const settle = async () => {
    while (await feedRound({ database, clickhouse }));
  };
  afterAll(async () => {
    await clickhouse.close();
    await server.stop();
    // A meter with an expression is asked about when its values of earlier events have arrived.
    expect(passedOn.filter((reason) => !/^the expression of meter \d+ is being fed$/.test(reason))).toEqual([]);
  });
  await beginFeed({ database, clickhouse });
  return { store, settle, behind: { server, clickhouse } };
}

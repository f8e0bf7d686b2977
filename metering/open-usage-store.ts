import type { Database } from '../db/orm.ts';
import type { Scope } from '../db/scope.ts';
import { type ClickHouse, openClickHouse } from './clickhouse/connection.ts';
import { openClickHouseUsageStore } from './clickhouse/usage-store.ts';
import { defaultLimits } from './postgres/event/write-queue.ts';
import { openPostgresUsageStore } from './postgres/usage-store.ts';
import type { UsageStore } from './usage-store.ts';

export interface UsageEngineOptions {
  readonly database: Database;
  /** Where ClickHouse is; null for the engine on PostgreSQL alone. */
  readonly clickhouseUrl: string | null;
  readonly onMarked?: (scope: Scope) => void;
  /** Hears why PostgreSQL answered in ClickHouse's place. */
  readonly onPassedOn: (reason: Error) => void;
}

/** The usage engine of a deployment, and the ClickHouse it has fed, which the store closes. design: usage.md The engine contract */
export function openUsageStore(options: UsageEngineOptions): { metering: UsageStore; clickhouse: ClickHouse | null } {
  const { database, clickhouseUrl, onMarked, onPassedOn } = options;
  const postgres = openPostgresUsageStore(database, defaultLimits, onMarked);
  if (clickhouseUrl === null) return { metering: postgres, clickhouse: null };
  const clickhouse = openClickHouse({ url: clickhouseUrl });
  return { metering: openClickHouseUsageStore({ clickhouse, postgres, onPassedOn }), clickhouse };
}

import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import type { ClickHouse } from '../../metering/clickhouse/connection.ts';
import { feedRound } from '../../metering/clickhouse/feed.ts';
import {
  type UsageFeedStanding,
  type UsageFeedStart,
  usageFeedStartOptions,
  usageFeedWorkflowType,
} from '../../workflows/usage/usage-feed.messages.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** After a round that found nothing. What is not fed yet is read from PostgreSQL, so nobody waits for it. */
const idleMs = 1_000;

export type UsageFeedActivities = ReturnType<typeof createUsageFeedActivities>;

/** What feeds the second usage engine; without one there is nothing to do. design: usage.md The engine contract */
export function createUsageFeedActivities(dependencies: { database: Database; clickhouse: ClickHouse | null }) {
  const { database, clickhouse } = dependencies;
  return {
    async feedUsage({ stepMs }: UsageFeedStart): Promise<UsageFeedStanding> {
      const standing = { rounds: 0, rows: 0, isOff: clickhouse === null };
      if (clickhouse === null) return standing;
      const context = Context.current();
      const onProgress = ({ rows }: { rows: number }) => {
        standing.rows += rows;
        context.cancellationSignal.throwIfAborted();
      };
      const feed = async () => {
        for (const until = Date.now() + stepMs; Date.now() < until; ) {
          if (await feedRound({ database, clickhouse, onProgress })) standing.rounds += 1;
          else await context.sleep(idleMs);
        }
        return standing;
      };
      return withHeartbeat(feed, () => standing);
    },
  };
}

/** Has the deployment's one feed run. */
export async function startUsageFeed(temporal: Client): Promise<void> {
  await temporal.workflow.start(usageFeedWorkflowType, usageFeedStartOptions());
}

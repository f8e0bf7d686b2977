import { Worker } from '@temporalio/worker';
import { createUsageFeedActivities } from '../../activities/usage-feed.ts';
import { openClickHouse } from '../../metering/clickhouse/connection.ts';
import {
  type UsageFeedStart,
  usageFeedStartOptions,
  usageFeedWorkflowType,
} from '../../workflows/usage-feed.messages.ts';
import type { Stage } from './scenarios.ts';

/** A feed is followed by the next, which ends because the deployment has no second engine any more. */
export async function usageFeedScenario({ platform }: Stage): Promise<void> {
  const { connection, namespace, bundle, database, temporal } = platform;
  const taskQueue = 'usage-feed-scenario';
  // A step of no length asks it for nothing.
  const clickhouse = openClickHouse({ url: 'http://127.0.0.1:1/perennial' });
  const [on, off] = [clickhouse, null].map((engine) => createUsageFeedActivities({ database, clickhouse: engine }));
  let steps = 0;
  const feedUsage = (start: UsageFeedStart) => {
    steps += 1;
    return (steps === 1 ? on! : off!).feedUsage(start);
  };
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: bundle,
    activities: { feedUsage },
  });
  const start = { ...usageFeedStartOptions(), taskQueue, args: [{ stepMs: 0 }] };
  await worker.runUntil(temporal.workflow.execute(usageFeedWorkflowType, start));
  await clickhouse.close();
}

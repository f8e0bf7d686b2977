import { Worker } from '@temporalio/worker';
import { createEventRetentionActivities } from '../../activities/usage/event-retention.ts';
import { createUsageFeedActivities } from '../../activities/usage/usage-feed.ts';
import { openClickHouse } from '../../metering/clickhouse/connection.ts';
import { retentionScheduleId, retentionWorkflowType } from '../../workflows/usage/event-retention.messages.ts';
import {
  type UsageFeedStart,
  usageFeedStartOptions,
  usageFeedWorkflowType,
} from '../../workflows/usage/usage-feed.messages.ts';
import { makeIngestedIn } from '../support/old-event.ts';
import type { Stage } from './stage.ts';

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

/** A month of events is old enough to be dropped, and waits for the second engine, whose feed has not begun. */
export async function heldBackScenario({ platform }: Stage): Promise<void> {
  const { api, connection, namespace, bundle, database, temporal, ownerUrl } = platform;
  await api('POST', '/events', {
    event_id: 'held back',
    event_name: 'held',
    external_customer_id: 'nobody',
    timestamp: '2020-02-05T00:00:00Z',
  });
  await makeIngestedIn(ownerUrl, '2020-02', ['held back']);
  const taskQueue = 'held-back-scenario';
  const clickhouse = openClickHouse({ url: 'http://127.0.0.1:1/perennial' });
  const activities = createEventRetentionActivities({ database, clickhouse });
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle: bundle, activities });
  const start = { workflowId: retentionScheduleId, taskQueue, args: [{ days: 400 }] };
  await worker.runUntil(temporal.workflow.execute(retentionWorkflowType, start));
  await clickhouse.close();
}

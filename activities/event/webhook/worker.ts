import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Database } from '../../../db/orm.ts';
import { webhookShards, webhookTaskQueue } from '../../../workflows/event/webhook-delivery.messages.ts';
import { createWebhookDelivery } from './delivery.ts';
import type { WebhookDependencies } from './shard.ts';

export interface WebhookWorkerDependencies {
  connection: NativeConnection;
  namespace: string;
  database: Database;
  temporal: Client;
  /** Absent where this process sends no webhooks. */
  webhooks?: WebhookDependencies | undefined;
}

/** Part of a worker process that sends webhooks. */
export interface WebhookWorker {
  /** None where this process sends no webhooks. */
  workers: Worker[];
  /** Has its steps come to their end, before the workers shut down. */
  end(): void;
  /** Closes what was opened, after the workers have ended. */
  close(): Promise<void>;
}

/** The worker that sends webhooks, on a queue of its own with room for every shard. design: people-and-events §A 5 */
export async function createWebhookWorker(
  { connection, namespace, database, temporal, webhooks }: WebhookWorkerDependencies,
  options: Pick<
    WorkerOptions,
    'interceptors' | 'shutdownGraceTime' | 'shutdownForceTime' | 'maxHeartbeatThrottleInterval'
  >,
): Promise<WebhookWorker> {
  if (!webhooks) return { workers: [], end: () => undefined, close: async () => undefined };
  const delivery = createWebhookDelivery({ database, temporal, webhooks });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: webhookTaskQueue,
    activities: delivery.activities,
    maxConcurrentActivityTaskExecutions: webhookShards,
    ...options,
  });
  return { workers: [worker], end: delivery.end, close: delivery.close };
}

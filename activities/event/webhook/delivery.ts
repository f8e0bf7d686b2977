import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import type { Database } from '../../../db/orm.ts';
import { createOutboxListener } from '../../../services/event/outbox-listener.ts';
import {
  type WebhookDeliveryStanding,
  type WebhookDeliveryStart,
  webhookDeliveryStartOptions,
  webhookDeliveryWorkflowType,
  webhookShards,
} from '../../../workflows/event/webhook-delivery.messages.ts';
import {
  standingChanged,
  type WebhookEndpointStart,
  webhookEndpointStartOptions,
  webhookEndpointWorkflowType,
} from '../../../workflows/event/webhook-endpoint.messages.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { feedEndOf } from './feed-end.ts';
import { ShardDelivery, type WebhookDependencies } from './shard.ts';

/** An endpoint's workflow hears of what changed at most this often. */
const tellEveryMs = 1_000;

export type WebhookDeliveryActivities = ReturnType<typeof createWebhookDelivery>['activities'];

/** The steps that send webhooks. `end` has those that run come to their end. */
export function createWebhookDelivery(dependencies: {
  database: Database;
  temporal: Client;
  webhooks: WebhookDependencies;
}) {
  const { database, temporal, webhooks } = dependencies;
  const listener = createOutboxListener(database);
  const feedEnd = feedEndOf(database);
  const running = new Set<ShardDelivery>();
  const tell = endpointTeller(temporal);
  const warn = (error: unknown, endpointId: string) =>
    Runtime.instance().logger.warn('the events of a webhook endpoint cannot be sent for now', { endpointId, error });

  const activities = {
    /** Serves one shard for a while. A worker that ends or loses it gives its endpoints back. design: people-and-events §A 5, 6 */
    async deliverWebhooks({ shard, shards, stepMs }: WebhookDeliveryStart): Promise<WebhookDeliveryStanding> {
      const context = Context.current();
      const onStanding = ({
        id: endpointId,
        tenantId,
        environmentId,
      }: { id: string } & Omit<WebhookEndpointStart, 'endpointId'>) => tell({ endpointId, tenantId, environmentId });
      const delivery = new ShardDelivery(
        { shard, shards },
        { ...webhooks, database, listener, feedEnd, onStanding, warn },
      );
      const abort = () => delivery.end({ abort: true });
      const over = setTimeout(() => delivery.end(), stepMs);
      context.cancellationSignal.addEventListener('abort', abort);
      running.add(delivery);
      try {
        await withHeartbeat(() => delivery.run());
        return { endpoints: delivery.served };
      } finally {
        running.delete(delivery);
        clearTimeout(over);
        context.cancellationSignal.removeEventListener('abort', abort);
      }
    },
  };
  return {
    activities,
    /** Breaks off what is sent and gives the endpoints back; another worker goes on with them. */
    end(): void {
      for (const delivery of running) delivery.end({ abort: true });
    },
    async close(): Promise<void> {
      await listener.close();
    },
  };
}

/** Has all endpoints served. */
export async function startWebhookDelivery(temporal: Client, shards = webhookShards): Promise<void> {
  for (let shard = 0; shard < shards; shard += 1) {
    await temporal.workflow.start(webhookDeliveryWorkflowType, webhookDeliveryStartOptions(shard, shards));
  }
}

/** Tells workflows of endpoints that something changed, each at most once a second; it is about what is shown, so a failure is no fault. */
function endpointTeller(temporal: Client): (start: WebhookEndpointStart) => void {
  const waiting = new Set<string>();
  return (start) => {
    if (waiting.has(start.endpointId)) return;
    waiting.add(start.endpointId);
    const timer = setTimeout(() => {
      waiting.delete(start.endpointId);
      const options = { ...webhookEndpointStartOptions(start), signal: standingChanged };
      temporal.workflow.signalWithStart(webhookEndpointWorkflowType, options).catch((error: unknown) => {
        Runtime.instance().logger.warn('the workflow of a webhook endpoint was not told', { ...start, error });
      });
    }, tellEveryMs);
    timer.unref();
  };
}

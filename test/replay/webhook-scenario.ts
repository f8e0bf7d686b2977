import { Worker } from '@temporalio/worker';
import { createWebhookDelivery } from '../../activities/event/webhook/delivery.ts';
import { inTransaction } from '../../db/transaction.ts';
import { createEndpoint, deleteEndpoint } from '../../services/event/webhook/endpoint.ts';
import {
  webhookDeliveryStartOptions,
  webhookDeliveryWorkflowType,
  webhookTaskQueue,
} from '../../workflows/event/webhook-delivery.messages.ts';
import {
  standingChanged,
  webhookEndpointStartOptions,
  webhookEndpointWorkflowId,
  webhookEndpointWorkflowType,
} from '../../workflows/event/webhook-endpoint.messages.ts';
import { type Stage, until } from './stage.ts';

const keys = [{ id: 'recording', key: '5e'.repeat(32) }];
/** Changes that fill the history of a run. */
const changesOfARun = 12;

/** A shard without endpoints is served for a step, and by the next one, which is stopped. */
export async function shardServed({ platform }: Stage): Promise<void> {
  const { connection, namespace, bundle, database, temporal } = platform;
  const taskQueue = 'webhook-scenario';
  const policy = { allowedHosts: [] };
  const webhooks = { policy, secretKeys: keys, renderInvoices: async () => new Map() };
  const delivery = createWebhookDelivery({ database, temporal, webhooks });
  const workflows = await Worker.create({ connection, namespace, taskQueue, workflowBundle: bundle });
  const { activities } = delivery;
  const sending = await Worker.create({ connection, namespace, taskQueue: webhookTaskQueue, activities });
  const start = { ...webhookDeliveryStartOptions(0, 1), taskQueue, args: [{ shard: 0, shards: 1, stepMs: 500 }] };
  const served = async () => {
    const { workflowId, firstExecutionRunId } = await temporal.workflow.start(webhookDeliveryWorkflowType, start);
    const handle = temporal.workflow.getHandle(workflowId);
    await until(async () => (await handle.describe()).runId !== firstExecutionRunId || undefined);
    await handle.terminate();
    delivery.end();
  };
  await sending.runUntil(workflows.runUntil(served()));
  await delivery.close();
}

/** A disabled endpoint says so for as long as changes of it fill a run, and ends when it is deleted. */
export async function endpointStands({ platform: { database, scope, temporal } }: Stage): Promise<void> {
  const { row } = await inTransaction(database, scope, (tx) =>
    createEndpoint(tx, keys, {
      url: 'https://receiver.example.com/',
      description: '',
      eventTypes: [],
      enabled: false,
      onExhausted: 'skip',
      rateLimit: null,
      headers: {},
      metadata: {},
      secret: null,
      start: 'now',
    }),
  );
  const { tenantId, environmentId } = scope;
  const options = webhookEndpointStartOptions({ tenantId, environmentId, endpointId: row.id });
  const tell = () =>
    temporal.workflow.signalWithStart(webhookEndpointWorkflowType, { ...options, signal: standingChanged });
  const handle = temporal.workflow.getHandle(webhookEndpointWorkflowId(row.id));
  for (let change = 0; change < changesOfARun; change += 1) {
    await tell();
    const { historyLength } = await handle.describe();
    await until(async () => (await handle.describe()).historyLength !== historyLength || undefined);
  }
  await inTransaction(database, scope, (tx) => deleteEndpoint(tx, row.id));
  await tell();
  await handle.result();
}

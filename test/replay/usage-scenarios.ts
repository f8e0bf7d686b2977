import pg from 'pg';
import { poll } from '../../dev/processes.ts';
import { usageWatchWorkflowId } from '../../workflows/alert/usage-watch.messages.ts';
import { bulkTaskQueue } from '../../workflows/start.messages.ts';
import { subscriptionWorkflowId } from '../../workflows/subscription/subscription.messages.ts';
import { reprocessWorkflowId } from '../../workflows/usage/event-reprocess.messages.ts';
import { retentionScheduleId, retentionWorkflowType } from '../../workflows/usage/event-retention.messages.ts';
import { meterBuildStartOptions, meterBuildWorkflowType } from '../../workflows/usage/meter-build.messages.ts';
import { personal } from './personal.ts';
import type { Stage } from './stage.ts';

/** Raw events that could not be read are read again, once there is a mapping that knows their shape. */
export async function rawEventsScenario({ platform }: Stage): Promise<void> {
  const { api, temporal, scope } = platform;
  await api('POST', '/events/raw/bulk', {
    events: [{ what: personal.eventName, who: personal.externalId, id: personal.note }],
  });
  await api('PUT', '/settings/raw_event_config', { value: { event_name: 'what', external_customer_id: 'who' } });
  await api('POST', '/events/raw/reprocess/pending', {
    start_date: '2020-01-01T00:00:00Z',
    external_customer_ids: [personal.externalId],
    event_names: [personal.eventName],
    event_ids: [personal.note],
  });
  await temporal.workflow.getHandle(reprocessWorkflowId(scope.environmentId)).result();
}

/** The next version of a meter is built and put in force. */
export async function meterBuildScenario({ platform }: Stage): Promise<void> {
  const { api, temporal, scope } = platform;
  const aggregation = { type: 'COUNT' };
  const { id } = await api('POST', '/meters', {
    name: 'Built',
    event_name: 'built',
    aggregation,
    reset_usage: 'BILLING_PERIOD',
  });
  const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, meterId: id };
  await temporal.workflow.execute(meterBuildWorkflowType, meterBuildStartOptions(start));
}

/** A month of events is old enough to be dropped. */
export async function retentionScenario({ platform }: Stage): Promise<void> {
  const owner = new pg.Client({ connectionString: platform.ownerUrl });
  await owner.connect();
  try {
    await owner.query(`create table usage.event_202001 (like usage.event including all);
      alter table usage.event_202001 enable row level security;
      alter table usage.event attach partition usage.event_202001 for values from ('2020-01-01T00:00:00Z') to ('2020-02-01T00:00:00Z')`);
  } finally {
    await owner.end();
  }
  const run = { workflowId: retentionScheduleId, taskQueue: bulkTaskQueue, args: [{ days: 400 }] };
  await platform.temporal.workflow.execute(retentionWorkflowType, run);
}

/** Usage reaches the threshold of a subscription, which invoices it; an event dated ahead is waited for. */
export async function thresholdScenario({ platform }: Stage): Promise<void> {
  const { api, temporal, scope } = platform;
  const meter = await api('POST', '/meters', {
    name: 'Watched',
    event_name: 'watched',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  });
  const plan = await api('POST', '/plans', { name: 'Watched', auto_invoice_threshold: '2' });
  await api('POST', '/prices', {
    entity_type: 'PLAN',
    entity_id: plan.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    amount: '1',
    currency: 'usd',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    meter_id: meter.id,
    start_date: '2020-01-01T00:00:00Z',
  });
  const customer = await api('POST', '/customers', { external_id: 'watched', name: 'watched' });
  const subscription = await api('POST', '/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: new Date(Date.now() - 86_400_000).toISOString(),
  });
  const send = (atMs: number) =>
    api('POST', '/events', {
      event_name: 'watched',
      external_customer_id: 'watched',
      timestamp: new Date(atMs).toISOString(),
    });
  await send(Date.now() - 3_600_000);
  await send(Date.now() - 1_800_000);
  const updated = () => temporal.workflow.getHandle(subscriptionWorkflowId(subscription.id)).fetchHistory();
  await poll(async () => (JSON.stringify(await updated()).includes('invoiceThreshold') ? true : undefined), 20_000);
  // The minute after it comes within a minute, and then nothing is left to wait for.
  await send(Date.now() + 1_000);
  await temporal.workflow.getHandle(usageWatchWorkflowId(scope.environmentId)).result();
}

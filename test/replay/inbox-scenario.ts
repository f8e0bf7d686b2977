import { signalProviderInbox } from '../../activities/integration/provider-inbox.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { keepNotifications, type NewNotification } from '../../services/integration/inbound-event.ts';
import { providerInboxWorkflowId } from '../../workflows/integration/provider-inbox.messages.ts';
import {
  inRealTime,
  paidInvoices,
  payerAnswers,
  paymentOf,
  paymentWorkflowOf,
  rowOf,
  type Stage,
  until,
} from './stage.ts';

/** Looks that fill the history of a run. */
const looksOfARun = 8;

/**
 * Notifications of a connection: of a payment, whose workflow is told; of an object that is not there, looked for again; and so many that a run
 * rolls over.
 */
export async function notificationsScenario(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { id: connectionId } = await api('POST', '/connections', {
    name: 'Connection',
    provider_type: 's3',
    sync_config: { s3: { is_platform_managed: true } },
  });
  const { subscriptionId } = await inRealTime(stage, { card: 'requires_action' });
  await until(() => paymentWorkflowOf(stage, subscriptionId));
  const paymentId = await paymentOf(stage, subscriptionId);
  await payerAnswers(stage, paymentId, 'confirm');
  await come(stage, connectionId, 'evt_paid', paymentId);
  await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  await temporal.workflow.getHandle(providerInboxWorkflowId(connectionId)).result();

  await come(stage, connectionId, 'evt_early', 'pay_that_is_not_there');
  await until(async () => Number((await found(stage, 'evt_early'))?.attempt) >= 2 || undefined);
  for (let number = 1; number <= looksOfARun; number += 1) {
    await come(stage, connectionId, `evt_other_${number}`, null);
    await until(async () => (await found(stage, `evt_other_${number}`))?.done_at);
  }
}

/** A notification comes and is passed on; `paymentId` null for one that is about nothing of ours. */
async function come(
  { platform: { database, scope, temporal } }: Stage,
  connectionId: string,
  providerEventId: string,
  paymentId: string | null,
): Promise<void> {
  const notification: NewNotification = {
    connectionId,
    provider: 'sandbox',
    providerEventId,
    eventType: 'payment.succeeded',
    marker: paymentId === null ? null : { environment: scope.environmentId, kind: 'payment', id: paymentId },
    providerIds: [],
    headers: {},
    body: Buffer.from('{}'),
    receivedAt: new Date().toISOString(),
    outcome: null,
  };
  await inSqlTransaction(database, scope, (tx) => keepNotifications(tx, [notification]));
  const { tenantId, environmentId } = scope;
  await signalProviderInbox(temporal, { tenantId, environmentId, connectionId });
}

function found(stage: Stage, eventId: string) {
  return rowOf(stage, 'select attempt, done_at from inbound_event where provider_event_id = $1', [eventId]);
}

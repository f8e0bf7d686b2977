import { advanceClock, makeCustomer, makeSubscription } from '../../bench/account.ts';
import { poll } from '../../dev/processes.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { gatewayNotified, paymentWorkflowType, refundedElsewhere } from '../../workflows/payment/payment.messages.ts';
import { refundWorkflowId, refundWorkflowType } from '../../workflows/payment/refund.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { personal } from './personal.ts';
import { newExternalId, type Stage, until } from './stage.ts';

const frozenAt = '2026-01-15T00:00:00Z';

/**
 * Refunds of a gateway that refuses: sent again by time and by a person, who may not retry what is under way. And of one that
 * never answers: parked after a day and continued.
 */
export async function refundScenario(stage: Stage): Promise<void> {
  const { api, temporal, gateway } = stage.platform;
  const refused = await refundOf(stage, 'refund_fails_times', 2);
  await statusOf(stage, refused.id, 'FAILED');
  await advanceClock(api, refused.clockId, '2026-01-15T00:20:00Z');
  await api('POST', `/refunds/${refused.id}/retry`, { refund_target: 'BACK_TO_SOURCE' });
  await api('POST', `/refunds/${refused.id}/retry`, { refund_target: 'BACK_TO_SOURCE' }).catch(() => undefined);

  const silent = await refundOf(stage, 'refund_never_answers');
  await advanceClock(api, silent.clockId, '2026-01-17T00:00:00Z');
  await gateway.operator.settleRefund(silent.id, 'succeeded');
  await temporal.workflow.getHandle(refundWorkflowId(silent.id)).executeUpdate(retry);
}

/** A refund that its gateway has not decided, until a notification says that it has. */
export async function refundNotified(stage: Stage): Promise<void> {
  const { temporal, gateway } = stage.platform;
  const undecided = await refundOf(stage, 'refund_never_answers');
  await until(async () => (await gateway.operator.settleRefund(undecided.id, 'succeeded')) || undefined);
  await temporal.workflow.getHandle(refundWorkflowId(undecided.id)).signal(gatewayNotified);
  await statusOf(stage, undecided.id, 'SUCCEEDED');
}

/** A refund that had succeeded and that the bank sends back: a notification has its gateway asked, and a person sends it once more. */
export async function refundTakenBack(stage: Stage): Promise<void> {
  const { api, temporal, gateway, scope } = stage.platform;
  const { id, clockId } = await refundOf(stage, 'succeeds');
  await statusOf(stage, id, 'SUCCEEDED');
  await gateway.operator.reverseRefund(id);
  const { customer_id: customerId } = await api<{ customer_id: string }>('GET', `/refunds/${id}`);
  const { tenantId, environmentId } = scope;
  const start = {
    tenantId,
    environmentId,
    objectId: id,
    customerId,
    testClockId: clockId,
    clockTime: frozenAt,
    creating: false,
  };
  const options = lifecycleStartOptions('refund', start, lifecycleTaskQueue);
  await temporal.workflow.signalWithStart(refundWorkflowType, { ...options, signal: gatewayNotified });
  await statusOf(stage, id, 'FAILED');
  await temporal.workflow.getHandle(refundWorkflowId(id)).executeUpdate(retry);
  await advanceClock(api, clockId, '2026-01-15T00:10:00Z');
  await statusOf(stage, id, 'SUCCEEDED');
}

/** A payment whose gateway tells of money that went back there, and knows of none that is not ours. */
export async function refundedElsewhereScenario(stage: Stage): Promise<void> {
  const { api, temporal, scope } = stage.platform;
  const { id, clockId } = await refundOf(stage, 'succeeds');
  await statusOf(stage, id, 'SUCCEEDED');
  type Refund = { customer_id: string; payment_id: string };
  const { customer_id: customerId, payment_id: paymentId } = await api<Refund>('GET', `/refunds/${id}`);
  const { tenantId, environmentId } = scope;
  const start = {
    tenantId,
    environmentId,
    objectId: paymentId,
    customerId,
    testClockId: clockId,
    clockTime: frozenAt,
    creating: false,
  };
  const options = lifecycleStartOptions('payment', start, lifecycleTaskQueue);
  const heard = await temporal.workflow.signalWithStart(paymentWorkflowType, { ...options, signal: refundedElsewhere });
  await heard.result();
}

async function refundOf({ platform: { api }, planId }: Stage, card: SandboxBehaviour, count = 0) {
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: frozenAt });
  const customerId = await makeCustomer(api, {
    externalId: newExternalId(),
    name: personal.name,
    email: personal.email,
    clockId,
    card: sandboxCardNumber(card, count),
  });
  await makeSubscription(api, { customer_id: customerId, plan_id: planId });
  type Invoices = { items: { id: string; line_items: { id: string; amount: string }[] }[] };
  const paid = await poll(async () => {
    const { items } = await api<Invoices>('GET', `/invoices?customer_id=${customerId}&payment_status=SUCCEEDED`);
    return items[0];
  }, 20_000);
  const line = paid?.line_items[0];
  if (!paid || !line) throw new Error('the first invoice was not paid');
  const note = await api('POST', '/creditnotes', {
    invoice_id: paid.id,
    reason: 'DUPLICATE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: line.id, amount: line.amount }],
  });
  const { items } = await api<{ items: { id: string }[] }>('GET', `/refunds?credit_note_id=${note.id}`);
  const [refund] = items;
  if (!refund) throw new Error('the credit note made no refund');
  return { id: refund.id, clockId };
}

async function statusOf({ platform: { api } }: Stage, refundId: string, status: string): Promise<void> {
  const reached = await poll(async () => {
    const refund = await api<{ refund_status: string }>('GET', `/refunds/${refundId}`);
    return refund.refund_status === status || undefined;
  }, 20_000);
  if (!reached) throw new Error(`refund ${refundId} did not become ${status}`);
}

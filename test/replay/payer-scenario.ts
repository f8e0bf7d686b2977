import { advanceClock } from '../../bench/account.ts';
import { gatewayNotified, paymentWorkflowId } from '../../workflows/payment.messages.ts';
import { onClock, payerAnswers, paymentOf, type Stage } from './stage.ts';

/** A payer takes its time to confirm, in one run of the payment; then the gateway tells of it. */
export async function payerTookTime(stage: Stage): Promise<void> {
  const { clockId, subscriptionId } = await onClock(stage, { card: 'requires_action' });
  const { api, temporal } = stage.platform;
  await advanceClock(api, clockId, '2026-01-15T00:06:00Z');
  const paymentId = await paymentOf(stage, subscriptionId);
  await payerAnswers(stage, paymentId, 'confirm');
  await temporal.workflow.getHandle(paymentWorkflowId(paymentId)).signal(gatewayNotified);
  await temporal.workflow.getHandle(paymentWorkflowId(paymentId)).result();
}

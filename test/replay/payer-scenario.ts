import { advanceClock, makeCustomer, makeSubscription } from '../../bench/account.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { gatewayNotified, paymentWorkflowId } from '../../workflows/payment/payment.messages.ts';
import { newExternalId, onClock, payerAnswers, paymentOf, type Stage, start } from './stage.ts';

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

/** The first charge is more than the mandate of the card allows: its payer is asked by a link, whose page ends unpaid. */
export async function payerLinked({ platform: { api }, planId }: Stage): Promise<void> {
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const customerId = await makeCustomer(api, { externalId: newExternalId(), clockId });
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), max_amount: '1', set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, card);
  await makeSubscription(api, { customer_id: customerId, plan_id: planId });
  await advanceClock(api, clockId, '2026-01-15T01:00:00Z');
}

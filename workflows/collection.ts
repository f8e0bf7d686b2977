import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { PaymentActivities } from '../activities/payment/payment.ts';
import { databaseStep, externalStep } from './activity-options.ts';
import { followPayment, followRefund } from './followers.ts';
import type { LifecycleStart } from './lifecycle.messages.ts';

type RecordedPayment = Awaited<ReturnType<PaymentActivities['recordPayment']>>;
type PaymentAnswer = Parameters<PaymentActivities['recordPayment']>[0];

/**
 * Asks the gateway for one opened payment and has `record` write its answer down. An answer that is still to come, or that
 * got lost, is handed to a workflow of the payment's own, which never asks for the money twice. spec: wallets-and-payments §2.19
 */
export async function collectPayment<Recorded extends RecordedPayment>(
  start: LifecycleStart,
  collection: { paymentId: string; at: string; clockTime: string | null },
  record: (answer: PaymentAnswer) => Promise<Recorded>,
): Promise<Recorded> {
  const { paymentId, at } = collection;
  const summary = `payment ${paymentId}`;
  const gateway = proxyActivities<PaymentActivities>({ ...externalStep, summary });
  const local = proxyLocalActivities<PaymentActivities>({ ...databaseStep, summary });
  const payment = { tenantId: start.tenantId, environmentId: start.environmentId, paymentId };
  const outcome = await gateway.chargePayment(payment);
  const recorded = await record({ ...payment, outcome, at });
  if (recorded.awaitsGateway) {
    // In this order: a task lost in between cannot leave the payment to nobody.
    await followPayment(start, paymentId, collection.clockTime);
    await local.attendPayment({ ...payment, at });
  }
  for (const id of recorded.refundIds ?? []) await followRefund(start, id, collection.clockTime);
  return recorded;
}

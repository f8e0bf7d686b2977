import type { PaymentActivities } from '../activities/payment.ts';
import { followPayment } from './followers.ts';
import type { LifecycleStart } from './lifecycle.messages.ts';

type RecordedPayment = Awaited<ReturnType<PaymentActivities['recordPayment']>>;

/**
 * Asks the gateway for one opened payment and records its answer. An answer that is still to come, or that got lost, is
 * handed to a workflow of the payment's own, which never asks for the money twice. spec: wallets-and-payments §2.19
 */
export async function collectPayment(
  start: LifecycleStart,
  local: Pick<PaymentActivities, 'recordPayment' | 'attendPayment'>,
  external: Pick<PaymentActivities, 'chargePayment'>,
  collection: { paymentId: string; at: string; clockTime: string | null },
): Promise<RecordedPayment> {
  const payment = { tenantId: start.tenantId, environmentId: start.environmentId, paymentId: collection.paymentId };
  const outcome = await external.chargePayment(payment);
  const recorded = await local.recordPayment({ ...payment, outcome, at: collection.at });
  if (recorded.awaitsGateway) {
    await local.attendPayment({ ...payment, at: collection.at });
    await followPayment(start, collection.paymentId, collection.clockTime);
  }
  return recorded;
}

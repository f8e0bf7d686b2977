import { writeAudit } from '../audit.ts';
import { restartUnansweredAgenda } from './payment-agenda.ts';
import { lockPaymentWithInvoice, type PaymentTransaction, paymentAudit } from './payment-row.ts';

/**
 * Parks a payment, so that operators see it and why; it stays PROCESSING and is never failed by this.
 * design: architecture §3; spec: wallets-and-payments §2.19 Unknown outcome
 */
export async function parkPayment(
  tx: PaymentTransaction,
  input: { paymentId: string; step: string; reason: string; at: string },
): Promise<void> {
  const { payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  await tx.rows(
    `insert into parked_object (environment_id, tenant_id, object_type, object_id, step, reason, parked_at)
     values ($1, $2, 'payment', $3, $4, $5, $6)
     on conflict (environment_id, object_type, object_id) do update set step = excluded.step, reason = excluded.reason`,
    [payment.environment_id, payment.tenant_id, payment.id, input.step, input.reason, input.at],
  );
  await writeAudit(tx, tx.scope, [
    paymentAudit(payment, 'parked', input.at, { step: input.step, reason: input.reason }),
  ]);
}

/** Continues a parked payment: the gateway is asked at once, and its 24 hours begin anew. */
export async function unparkPayment(tx: PaymentTransaction, input: { paymentId: string; at: string }): Promise<void> {
  const { payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  await tx.rows(`delete from parked_object where environment_id = $1 and object_type = 'payment' and object_id = $2`, [
    payment.environment_id,
    payment.id,
  ]);
  if (payment.payment_status === 'PROCESSING') await restartUnansweredAgenda(tx, payment, input.at);
  await writeAudit(tx, tx.scope, [paymentAudit(payment, 'retried', input.at, {})]);
}

import type { DisputeAtGateway } from '../../../billing/payment/dispute.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { recordRefundsElsewhere } from '../../../services/refund/refund-elsewhere.ts';
import type { TestDatabase } from '../../support/database.ts';

/** Records that the bank of a payer wants 1 usd of a payment back, and has not decided. */
export async function disputePayment({ database, scope }: TestDatabase, paymentId: string): Promise<void> {
  const at = '2026-02-03T00:00:00.000Z';
  const dispute: DisputeAtGateway = {
    gatewayDisputeId: 'du_1',
    status: 'open',
    amount: '1',
    currency: 'usd',
    reason: null,
    openedAt: at,
    evidenceDueAt: null,
  };
  await inSqlTransaction(database, scope, (tx) =>
    recordRefundsElsewhere(tx, { paymentId, refunds: [], disputes: [dispute], at }),
  );
}

import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { decideRefund, refundTransaction } from '../../../../dev/provider-fakes/paddle/payment.ts';
import type { SandboxBehaviour } from '../../../../integrations/sandbox-gateway/card.ts';
import { paddleWorld } from './paddle.fixture.ts';

const world = await paddleWorld();
const { fake, base, books, read, connect, readLists } = world;
const { opened, transactionOf, pay, becomes, refundsBecome, credit, lastEvent, notify } = world;
const connected = await connect();
expect(connected.status).toBe(201);

/** An invoice of 25 that was paid at Paddle. */
async function paid(card: SandboxBehaviour = 'succeeds') {
  const session = await opened();
  pay(session, card);
  await becomes(session, 'completed');
  const { checkout_payment_id: paymentId, checkout_invoice_id: invoiceId } = session;
  return { paymentId, invoiceId, transaction: transactionOf(session) };
}

test('refunds go back once, also when the answer is lost', async () => {
  const { paymentId, invoiceId, transaction } = await paid();
  fake.failNext('refund', 'loses_answer');
  await credit(invoiceId, '10');
  await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
  await credit(invoiceId, '15');
  await expect
    .poll(() => read(`/payments/${paymentId}`), { timeout: 20_000 })
    .toMatchObject({ payment_status: 'REFUNDED' });
  expect(books.refundsOf(transaction.id).map(({ totals }) => totals.total)).toEqual(['1000', '1500']);
});

test('refunds wait for their approval, which a notification tells, and a reversal is told too', async () => {
  const { paymentId, invoiceId, transaction } = await paid('refund_never_answers');
  await credit(invoiceId, '10');
  await expect.poll(() => books.refundsOf(transaction.id), { timeout: 20_000 }).toHaveLength(1);
  await refundsBecome(paymentId, [{ refund_status: 'PROCESSING' }]);
  // Nobody is alarmed while people at Paddle may still be looking at it.
  const report = () =>
    inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ is_late: boolean }>(
        `select due_at > now() + interval '7 days' as is_late from agenda_entry where object_type = 'refund' and kind = 'reportUnanswered'`,
      ),
    );
  await expect.poll(report, { timeout: 20_000 }).toEqual([{ is_late: true }]);
  const [adjustment] = books.refundsOf(transaction.id);
  decideRefund(books, adjustment!.id, 'approved');
  expect((await notify(lastEvent('adjustment.updated'))).status).toBe(200);
  await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', gateway_refund_id: adjustment!.id }]);
  decideRefund(books, adjustment!.id, 'reversed');
  await notify(lastEvent('adjustment.updated'));
  await refundsBecome(paymentId, [{ refund_status: 'FAILED', failure_reason: 'reversed' }]);
});

test('refunds made in Paddle’s dashboard show at the payment', async () => {
  const { paymentId, transaction } = await paid();
  refundTransaction(books, transaction, { amount: '700', reason: 'goodwill' });
  await notify(lastEvent('adjustment.updated'));
  await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', amount: '7', metadata: { made_at: 'paddle' } }]);
});

test('refunds made in Paddle’s dashboard that no notification told of are found in the list of events', async () => {
  const { paymentId, transaction } = await paid();
  refundTransaction(books, transaction, { amount: '700', reason: 'goodwill' });
  await readLists(connected.body.id, { webhook_secret: 'pwh_1' });
  const made = { refund_status: 'SUCCEEDED', amount: '7', metadata: { made_at: 'paddle' } };
  await refundsBecome(paymentId, [made]);
  await notify(lastEvent('adjustment.updated'));
  await refundsBecome(paymentId, [made]);
});

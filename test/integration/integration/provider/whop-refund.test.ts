import { describe, expect, test } from 'vitest';
import { decide, refundPayment, settleRefund } from '../../../../dev/provider-fakes/whop/payment.ts';
import type { SandboxBehaviour } from '../../../../integrations/sandbox-gateway/card.ts';
import { gatewayNotified } from '../../../../workflows/payment/payment.messages.ts';
import { refundWorkflowId } from '../../../../workflows/payment/refund.messages.ts';
import { readSession } from '../../payment/checkout/checkout.fixture.ts';
import { whopWorld } from './whop.fixture.ts';

const world = await whopWorld('refunds');
const {
  api,
  becomes,
  books,
  cancel,
  credit,
  fake,
  idOf,
  lastEvent,
  notify,
  opened,
  pay,
  read,
  refundsBecome,
  returnedOf,
} = world;
const { body: connection } = await world.connect();

/** An invoice of 25 that was paid on the page of Whop. */
async function paid(card: SandboxBehaviour = 'succeeds') {
  const session = await opened();
  pay(session, card);
  await becomes(session, 'completed');
  const [payment] = books.paymentsOf(idOf(session));
  return { paymentId: session.checkout_payment_id, invoiceId: session.checkout_invoice_id, payment: payment! };
}

/** Whop has news of a refund, whatever they are: its workflow asks. */
const told = (refundId: string) =>
  world.temporal.client.workflow.getHandle(refundWorkflowId(refundId)).signal(gatewayNotified);

describe('money that comes otherwise', () => {
  const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '25' };

  test('after a cancellation that Whop did not hear goes back to its card', async () => {
    const session = await opened();
    fake.failNext('close', 'unreachable', 20);
    fake.failNext('change', 'unreachable', 20);
    expect((await cancel(session)).body.checkout_status).toBe('expired');
    expect(pay(session)).toBe('succeeded');
    for (const kind of ['close', 'change'] as const) fake.mend(kind);
    expect((await notify(lastEvent('payment.succeeded'))).status).toBe(200);
    await refundsBecome(session.checkout_payment_id, [back]);
    expect(returnedOf(books.paymentsOf(idOf(session))[0]!)).toEqual(['25 usd']);
  });

  test('when a bank confirms after the page was closed goes back to its card', async () => {
    const session = await opened();
    pay(session, 'never_answers');
    const [attempt] = books.paymentsOf(idOf(session));
    // So long ago that its payer counts as gone.
    Object.assign(attempt!, { status: 'draft', created_at: new Date(Date.now() - 31 * 60_000).toISOString() });
    expect((await cancel(session)).body.checkout_status).toBe('expired');
    expect(decide(books, idOf(session), 'capture')).toBe(true);
    await notify(lastEvent('payment.succeeded'));
    await refundsBecome(session.checkout_payment_id, [back]);
  });

  test('less than was asked, or in another currency, never completes an order, and goes back', async () => {
    for (const [card, taken] of [
      ['captures_less', '24.99 usd'],
      ['captures_otherwise', '25 eur'],
    ] as const) {
      const session = await opened();
      pay(session, card);
      await notify(lastEvent('payment.succeeded'));
      await becomes(session, 'failed');
      expect(await readSession(api, session.id)).toMatchObject({ failure_reason: 'amount_mismatch' });
      await refundsBecome(session.checkout_payment_id, [{ refund_status: 'SUCCEEDED' }]);
      expect(returnedOf(books.paymentsOf(idOf(session))[0]!)).toEqual([taken]);
    }
  });
});

describe('refunds', () => {
  test('go back to the card, once, also when the answer is lost', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
    expect(returnedOf(payment)).toEqual(['10 usd']);
    await credit(invoiceId, '15');
    await expect.poll(() => returnedOf(payment), { timeout: 20_000 }).toEqual(['10 usd', '15 usd']);
    await expect
      .poll(() => read(`/payments/${paymentId}`), { timeout: 20_000 })
      .toMatchObject({ payment_status: 'REFUNDED' });
  });

  test('that never arrived are not sent again, and stay undecided', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    fake.failNext('refund', 'unreachable');
    const asked = fake.calls('list');
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'PROCESSING', amount: '10' }]);
    const [{ id }] = (await read(`/refunds?payment_ids=${paymentId}`)).items;
    // Time does the same, only later; asked about at least twice since.
    for (let times = 0; times < 2; times += 1) await told(id);
    await expect.poll(() => fake.calls('list') - asked, { timeout: 20_000 }).toBeGreaterThan(4);
    expect(returnedOf(payment)).toEqual([]);
    await refundsBecome(paymentId, [{ refund_status: 'PROCESSING', amount: '10' }]);
    const late = refundPayment(books, payment, 10, null);
    expect((await notify(lastEvent('refund.created'))).status).toBe(200);
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', gateway_refund_id: late.id }]);
    expect(returnedOf(payment)).toEqual(['10 usd']);
  });

  test('made in the dashboard are found when Whop tells of them', async () => {
    const { paymentId, payment } = await paid();
    const { id } = refundPayment(books, payment, 10);
    expect((await notify(lastEvent('refund.created'))).status).toBe(200);
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', amount: '10', gateway_refund_id: id }]);
  });

  test('made in the dashboard that no notification told of are found in the list of the account', async () => {
    const { paymentId, payment } = await paid();
    const { id } = refundPayment(books, payment, 10);
    await world.readLists(connection.id, { webhook_secret: 'ws_1' });
    const made = { refund_status: 'SUCCEEDED', amount: '10', gateway_refund_id: id, metadata: { made_at: 'whop' } };
    await refundsBecome(paymentId, [made]);
    expect((await notify(lastEvent('refund.created'))).status).toBe(200);
    await refundsBecome(paymentId, [made]);
  });

  test('that a bank decides are told when it has', async () => {
    const { paymentId, invoiceId, payment } = await paid('refund_never_answers');
    await credit(invoiceId, '25');
    await refundsBecome(paymentId, [{ refund_status: 'PROCESSING' }]);
    await expect.poll(() => books.refundsOf(payment.id).length, { timeout: 20_000 }).toBe(1);
    settleRefund(books, books.refundsOf(payment.id)[0]!.id, 'succeeded');
    expect((await notify(lastEvent('refund.updated'))).status).toBe(200);
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', amount: '25' }]);
  });
});

import { describe, expect, test } from 'vitest';
import { signedNotification } from '../../../../dev/provider-fakes/razorpay/notification.ts';
import { decideRefund, refundInDashboard } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import type { SandboxBehaviour } from '../../../../integrations/sandbox-gateway/card.ts';
import { razorpayWorld } from './razorpay.fixture.ts';

const world = await razorpayWorld('refunds');
const { api, books, fake, read, notify, lastEvent } = world;
const { body: connection } = await world.connect();

/** An invoice of 25 that was paid on the page of Razorpay. */
async function paid(card: SandboxBehaviour = 'succeeds') {
  const session = await world.opened();
  world.pay(session, card);
  await world.becomes(session, 'completed');
  const { gateway_payment_id: gatewayId } = await read(`/payments/${session.checkout_payment_id}`);
  return {
    paymentId: session.checkout_payment_id as string,
    invoiceId: session.checkout_invoice_id as string,
    gatewayId,
  };
}

const credit = ({ invoiceId }: { invoiceId: string }, amount: string) => world.credit(invoiceId, amount);
const inDashboard = async (gatewayId: string, amount: number) => {
  const refundId = refundInDashboard(books, gatewayId, amount);
  const event = lastEvent('refund.processed');
  expect((await notify(event)).status).toBe(200);
  return { refundId, event };
};

describe('refunds of ours', () => {
  test('go back to the card, once, also when the answer is lost', async () => {
    const payment = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(payment, '10');
    const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' };
    await world.refundsBecome(payment.paymentId, [back]);
    expect(books.refundsOf(payment.gatewayId)).toMatchObject([{ amount: 1000, notes: { kind: 'refund' } }]);
    expect(await read(`/payments/${payment.paymentId}`)).toMatchObject({ payment_status: 'PARTIALLY_REFUNDED' });
  });

  test('that take days are settled by what Razorpay tells', async () => {
    const payment = await paid('refund_never_answers');
    await credit(payment, '10');
    await expect.poll(() => books.refundsOf(payment.gatewayId), { timeout: 20_000 }).toHaveLength(1);
    const [refund] = books.refundsOf(payment.gatewayId);
    await world.refundsBecome(payment.paymentId, [{ refund_status: 'PROCESSING' }]);
    decideRefund(books, refund!.id, 'processed');
    expect((await notify(lastEvent('refund.processed'))).status).toBe(200);
    await world.refundsBecome(payment.paymentId, [{ refund_status: 'SUCCEEDED', gateway_refund_id: refund!.id }]);
  });
});

describe('refunds made in the dashboard', () => {
  test('become rows, their payment and invoice follow, and told twice they are one', async () => {
    const { paymentId, invoiceId, gatewayId } = await paid();
    const { refundId, event } = await inDashboard(gatewayId, 500);
    const made = {
      gateway_refund_id: refundId,
      amount: '5',
      refund_status: 'SUCCEEDED',
      metadata: { made_at: 'razorpay' },
    };
    await world.refundsBecome(paymentId, [made]);
    const again = { ...event, id: 'repeat' };
    expect((await notify(again)).status).toBe(200);
    await expect.poll(async () => (await world.inboxOf(again.id))?.outcome, { timeout: 20_000 }).not.toBeNull();
    await world.temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
    await world.refundsBecome(paymentId, [made]);
    await inDashboard(gatewayId, 2000);
    await expect
      .poll(() => read(`/invoices/${invoiceId}`), { timeout: 20_000 })
      .toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '25' });
  });
});

describe('refunds in the dashboard that no notification told of', () => {
  test('are found in the list of the account, once they are paid out, and are no sign of a wrong address', async () => {
    const { paymentId, gatewayId } = await paid();
    const refundId = refundInDashboard(books, gatewayId, 700);
    // Long enough ago that its notification should have come.
    Object.assign(books.refunds.get(refundId)!, {
      status: 'pending',
      created_at: Math.floor(Date.now() / 1000) - 3600,
    });
    const readLists = () => world.readLists(connection.id, { webhook_secret: 'rwh_1' });
    await readLists();
    await expect
      .poll(async () => (await world.inboxOf(`${refundId}/pending`))?.outcome, { timeout: 20_000 })
      .toBe('passed_on');
    decideRefund(books, refundId, 'processed');
    await readLists();
    await world.refundsBecome(paymentId, [{ gateway_refund_id: refundId, amount: '7', refund_status: 'SUCCEEDED' }]);
    expect(await read(`/connections/${connection.id}`)).toMatchObject({ health: { status: 'healthy' } });
  });
});

describe('a notification is refused, and nothing is kept,', () => {
  test('without a signature, with another secret or with changed bytes; an exchanged secret stays valid', async () => {
    const event = { ...lastEvent('payment_link.paid'), id: 'refused' };
    const sent = async (change: (text: string) => string, headers: object = {}) => {
      const signed = signedNotification(event, 'rwh_1');
      return world.post({
        headers: { ...signed.headers, ...headers } as Record<string, string>,
        body: change(signed.body),
      });
    };
    const before = (await world.kept()).length;
    const problem = (message: string) => ({ status: 400, body: { message: expect.stringContaining(message) } });
    expect(await sent((text) => text, { 'x-razorpay-signature': '' })).toMatchObject(problem('is not signed'));
    expect(await notify(event, 'rwh_2')).toMatchObject(problem('does not fit'));
    expect(await sent((text) => text.replace('captured', 'failed'))).toMatchObject(problem('does not fit'));
    expect(await world.kept()).toHaveLength(before);
    const exchange = { encrypted_secret_data: { webhook_secret: 'rwh_2' } };
    expect((await api('PUT', `/connections/${connection.id}`, exchange)).status).toBe(200);
    expect((await notify({ ...event, id: 'new' }, 'rwh_2')).status).toBe(200);
    expect((await notify({ ...event, id: 'old' }, 'rwh_1')).status).toBe(200);
    expect(await world.kept()).toHaveLength(before + 2);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { FakeTransaction } from '../../../dev/provider-fakes/paddle/books.ts';
import { book, decideRefund, refundTransaction } from '../../../dev/provider-fakes/paddle/payment.ts';
import { startPaddleFake } from '../../../dev/provider-fakes/paddle/server.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { opened } from '../../support/gateways/gateway-under-test.ts';
import { paddleUnderTest } from '../../support/gateways/paddle-under-test.ts';

const fake = await startPaddleFake();
afterAll(() => fake.close());
let under = paddleUnderTest(fake);
beforeEach(() => {
  under = paddleUnderTest(fake);
});
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const transactionOf = (id: string): FakeTransaction => under.books.transactions.get(id)!;

describe('refunds that people at Paddle decide on', () => {
  /** A payment of 12.5, and a refund of a part of it. */
  async function paid() {
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const refundOf = (amount: string, createdAt = new Date().toISOString()): RefundRequest => {
      const refundToken = `re_${randomUUID()}`;
      const metadata = { environment: 'env_1', kind: 'refund', id: 're_1' };
      const names = { refundToken, token: wireToken(refundToken), chargeProviderId: reference.providerId, createdAt };
      return { ...reference, ...names, providerId: null, amount, currency: 'usd', metadata };
    };
    const { links: _, refunds } = under.gateway;
    return { transaction: transactionOf(reference.providerId), refundOf, refunds };
  }
  const another = (request: RefundRequest) => ({ ...request, metadata: { ...request.metadata, id: 're_2' } });
  const adjustments = () => [...under.books.adjustments.values()];
  const inDashboard = (transaction: FakeTransaction, amount: string) =>
    refundTransaction(under.books, transaction, { amount, reason: 'goodwill' });

  test('one waits for its approval, for days, and is rejected or approved', async () => {
    const { transaction, refundOf, refunds } = await paid();
    under.books.cards.set(transaction.id, { behaviour: 'refund_never_answers', count: 0 });
    const [first, second] = [refundOf('5'), refundOf('5')];
    const asked = await refunds.refund(first);
    expect(asked).toMatchObject({ status: 'processing', amount: '5', expectedBy: expect.any(String) });
    expect(Date.parse(asked.expectedBy!)).toBeGreaterThan(Date.now() + 7 * 86_400_000);
    decideRefund(under.books, asked.gatewayRefundId!, 'rejected');
    expect(await refunds.lookUp(first)).toMatchObject({ status: 'failed', failureReason: 'rejected' });
    const { gatewayRefundId } = await refunds.refund(second);
    decideRefund(under.books, gatewayRefundId!, 'approved');
    expect(await refunds.lookUp(second)).toMatchObject({ status: 'succeeded', amount: '5' });
  });

  test('one at a time: a second waits until the first is decided, and nothing of it is sent before', async () => {
    const { transaction, refundOf, refunds } = await paid();
    under.books.cards.set(transaction.id, { behaviour: 'refund_never_answers', count: 0 });
    const [first, second] = [refundOf('5'), another(refundOf('3'))];
    const { gatewayRefundId } = await refunds.refund(first);
    const waiting = { status: 'processing', gatewayRefundId: null, amount: '3' };
    expect(await refunds.lookUp(second)).toMatchObject(waiting);
    expect(await refunds.refund(second)).toMatchObject(waiting);
    expect(adjustments()).toHaveLength(1);
    decideRefund(under.books, gatewayRefundId!, 'approved');
    under.books.cards.delete(transaction.id);
    expect(await refunds.refund(second)).toMatchObject({ status: 'succeeded' });
  });

  test('another that begins in the same moment: the one that Paddle refuses waits', async () => {
    const { transaction, refundOf, refunds } = await paid();
    under.books.cards.set(transaction.id, { behaviour: 'refund_never_answers', count: 0 });
    fake.beforeNext('refund', () => inDashboard(transaction, '300'));
    expect(await refunds.refund(refundOf('5'))).toMatchObject({ status: 'processing', gatewayRefundId: null });
  });

  test('a payment that is not booked yet is not refused for good', async () => {
    const { transaction, refundOf, refunds } = await paid();
    transaction.status = 'paid';
    const request = refundOf('5');
    expect(await refunds.lookUp(request)).toMatchObject({ status: 'processing', gatewayRefundId: null });
    book(under.books, transaction);
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
  });

  test('a try whose request was lost is never sent again: after a quarter of an hour it has failed', async () => {
    const { refundOf, refunds } = await paid();
    expect(refunds.resend).toBe('never');
    await expect(refunds.refund(refundOf('5', minutesAgo(6)))).rejects.toThrow('too long ago to be sent');
    expect(await refunds.lookUp(refundOf('5', minutesAgo(14)))).toEqual({ status: 'not_found' });
    const failed = { status: 'failed', gatewayRefundId: null, failureReason: 'it never arrived at paddle' };
    expect(await refunds.lookUp(refundOf('5', minutesAgo(16)))).toMatchObject(failed);
    expect(adjustments()).toEqual([]);
  });

  test('a try that arrives after it was given up for lost counts for the next, which is not sent', async () => {
    const { transaction, refundOf, refunds } = await paid();
    const [lost, next] = [refundOf('5', minutesAgo(20)), refundOf('5')];
    expect(await refunds.lookUp(lost)).toMatchObject({ status: 'failed' });
    refundTransaction(under.books, transaction, { amount: '500', reason: `refund re_1 of env_1: ${lost.token}` });
    expect(await refunds.refund(next)).toMatchObject({ status: 'succeeded', amount: '5' });
    expect(adjustments()).toHaveLength(1);
    expect(await refunds.refund(another(refundOf('5')))).toMatchObject({ status: 'succeeded' });
    expect(adjustments()).toHaveLength(2);
  });

  test('the next try after a rejected one is sent, and one that had succeeded is never taken for lost', async () => {
    const { transaction, refundOf, refunds } = await paid();
    under.books.cards.set(transaction.id, { behaviour: 'refund_fails_times', count: 1 });
    const { gatewayRefundId } = await refunds.refund(refundOf('5'));
    const next = { ...refundOf('5'), providerId: gatewayRefundId };
    expect(await refunds.lookUp(next)).toEqual({ status: 'not_found' });
    const given = await refunds.refund(next);
    expect(given).toMatchObject({ status: 'succeeded' });
    under.books.adjustments.delete(given.gatewayRefundId!);
    const settled = { ...next, providerId: given.gatewayRefundId, createdAt: minutesAgo(60) };
    await expect(refunds.lookUp(settled)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });

  test('those made in the dashboard are told, and neither chargebacks nor ours', async () => {
    const { transaction, refundOf, refunds } = await paid();
    await refunds.refund(refundOf('5'));
    const { id } = inDashboard(transaction, '200');
    const chargeback = structuredClone(inDashboard(transaction, '100'));
    under.books.adjustments.set(chargeback.id, { ...chargeback, action: 'chargeback' });
    const charge = refundOf('0');
    const made = [{ status: 'succeeded', gatewayRefundId: id, amount: '2', currency: 'usd' }];
    expect(await refunds.madeElsewhere!(charge)).toEqual(made);
    expect(await refunds.lookUp({ ...charge, providerId: id })).toMatchObject({ status: 'succeeded', amount: '2' });
  });

  test('another currency than that of the payment is never sent', async () => {
    const { refundOf, refunds } = await paid();
    expect(await refunds.refund({ ...refundOf('5'), currency: 'eur' })).toMatchObject({ status: 'failed' });
    expect(adjustments()).toEqual([]);
  });
});

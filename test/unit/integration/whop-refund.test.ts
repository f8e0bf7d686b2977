import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { refundPayment, settleRefund } from '../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { openWhopGateway } from '../../../integrations/whop/gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { opened } from '../../support/gateways/gateway-under-test.ts';
import { whopUnderTest } from '../../support/gateways/whop-under-test.ts';

const fake = await startWhopFake();
afterAll(() => fake.close());

/** A payment of 12.5, and refunds of parts of it. */
async function paid(settledMs = 0) {
  const under = whopUnderTest(fake, settledMs);
  const { apiKey, books, companyId, gateway } = under;
  const { reference } = await opened(under);
  await under.pay(reference, 'succeeds');
  const [payment] = books.paymentsOf(reference.providerId);
  const refundOf = (amount: string): RefundRequest => {
    const refundToken = `re_${randomUUID()}`;
    const names = { refundToken, token: wireToken(refundToken), chargeProviderId: payment!.id };
    return { ...reference, ...names, providerId: null, amount, currency: 'usd', metadata: {} };
  };
  const returned = () => [...books.refunds.values()].map(({ amount }) => amount);
  return { apiKey, companyId, books, payment: payment!, refundOf, refunds: gateway.refunds, returned };
}

describe('refunds of a provider that lets none carry a name of ours', () => {
  test('one whose answer was lost is never sent again by the product', async () => {
    const { apiKey, companyId, refundOf, returned } = await paid();
    const { refunds } = openWhopGateway({ apiKey, companyId, hosts: [fake.url] });
    const request = refundOf('5');
    fake.failNext('refund', 'unreachable');
    for (let count = 0; count < 3; count += 1)
      await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(returned()).toEqual([]);
  });

  test('a try that is lost is not sent again while it may still arrive, and counts when it did', async () => {
    const { books, payment, refundOf, refunds, returned } = await paid(600_000);
    const request = refundOf('5');
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(refunds.refund(request)).rejects.toThrow('may still arrive');
    expect(returned()).toEqual([]);
    const late = refundPayment(books, payment, 5, request.token);
    expect(await refunds.lookUp(request)).toMatchObject({ status: 'succeeded', gatewayRefundId: late.id });
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded', gatewayRefundId: late.id });
    expect(returned()).toEqual([5]);
  });

  test('two of one amount are two refunds, each known by its own token', async () => {
    const { refundOf, refunds, returned } = await paid();
    const [first, second] = [refundOf('5'), refundOf('5')];
    const one = await refunds.refund(first);
    fake.failNext('refund', 'loses_answer');
    await expect(refunds.refund(second)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const two = await refunds.lookUp(second);
    expect(two).toMatchObject({ status: 'succeeded' });
    expect((two as typeof one).gatewayRefundId).not.toBe(one.gatewayRefundId);
    expect(await refunds.lookUp(first)).toMatchObject({ gatewayRefundId: one.gatewayRefundId });
    expect(returned()).toEqual([5, 5]);
  });

  test('one at a time: a second waits until the first is decided', async () => {
    const { refundOf, refunds, returned } = await paid();
    const [first, second] = [refundOf('5'), refundOf('3')];
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(first)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(refunds.refund(second)).rejects.toThrow('another refund of the payment is undecided');
    expect(returned()).toEqual([]);
    expect(await refunds.refund(first)).toMatchObject({ status: 'succeeded' });
    expect(await refunds.refund(second)).toMatchObject({ status: 'succeeded' });
    expect(returned()).toEqual([5, 3]);
  });

  test('one that was lost a day ago holds no other up', async () => {
    const { books, payment, refundOf, refunds, returned } = await paid();
    const [lost, next] = [refundOf('5'), refundOf('5')];
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(lost)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const plan = books.plans.get(payment.plan.id)!;
    const yesterday = `0:5:${Date.now() - 25 * 3_600_000}:1`;
    plan.metadata = { ...plan.metadata, [`refund_${lost.token}`]: yesterday };
    expect(await refunds.refund(next)).toMatchObject({ status: 'succeeded' });
    expect(returned()).toEqual([5]);
  });

  test('sent at the same moment, the same refund or two, each gives back once at most and all of it in the end', async () => {
    const { refundOf, refunds, returned } = await paid();
    const requests = [refundOf('5'), refundOf('3')];
    const [first, second] = requests;
    await Promise.allSettled([first!, first!, second!].map((request) => refunds.refund(request)));
    expect([[], [3], [5], [3, 5], [5, 3]]).toContainEqual(returned());
    for (const request of requests) await refunds.refund(request);
    expect(returned().toSorted((a, b) => a - b)).toEqual([3, 5]);
  });

  test('what was given back in the dashboard before is not taken for ours, and is told', async () => {
    const { books, payment, refundOf, refunds, returned } = await paid();
    const { id } = refundPayment(books, payment, 5);
    const request = refundOf('5');
    expect(await refunds.lookUp(request)).toEqual({ status: 'not_found' });
    const ours = await refunds.refund(request);
    expect(ours).toMatchObject({ status: 'succeeded' });
    expect(ours.gatewayRefundId).not.toBe(id);
    expect(returned()).toEqual([5, 5]);
    const elsewhere = { status: 'succeeded', gatewayRefundId: id, amount: '5', currency: 'usd' };
    expect(await refunds.madeElsewhere!(request)).toEqual([elsewhere]);
    expect(await refunds.lookUp({ ...refundOf('5'), providerId: id })).toMatchObject({ gatewayRefundId: id });
  });

  test('a refused one leaves nothing behind that the next would wait for', async () => {
    const { books, payment, refundOf, refunds } = await paid();
    const refused = refundOf('20');
    expect(await refunds.refund(refused)).toMatchObject({ status: 'failed', failureReason: 'amount_too_large' });
    expect(books.plans.get(payment.plan.id)!.metadata[`refund_${refused.token}`]).toBe('');
    expect(await refunds.refund(refundOf('12.5'))).toMatchObject({ status: 'succeeded' });
    expect(Object.keys(books.plans.get(payment.plan.id)!.metadata)).not.toContain(`refund_${refused.token}`);
  });

  test('one that is refused because an earlier sending of it arrived has succeeded', async () => {
    const { books, payment, refundOf, refunds, returned } = await paid();
    const request = refundOf('12.5');
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    fake.beforeNext('refund', () => refundPayment(books, payment, 12.5, request.token));
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(returned()).toEqual([12.5]);
  });

  test('one that is refused beside a refund of the dashboard is not taken for that', async () => {
    const { books, payment, refundOf, refunds } = await paid();
    const request = refundOf('12.5');
    fake.beforeNext('refund', () => refundPayment(books, payment, 12.5));
    expect(await refunds.refund(request)).toMatchObject({ status: 'failed', failureReason: 'amount_too_large' });
    expect(await refunds.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await refunds.madeElsewhere!(request)).toMatchObject([{ status: 'succeeded', amount: '12.5' }]);
  });

  test('the next try of one that its bank sent back is another refund', async () => {
    const { books, refundOf, refunds } = await paid();
    const [first, next] = [refundOf('12.5'), refundOf('12.5')];
    const { gatewayRefundId } = await refunds.refund(first);
    settleRefund(books, gatewayRefundId!, 'failed');
    expect(await refunds.lookUp(first)).toMatchObject({ status: 'failed', failureReason: 'refund_failed' });
    expect(await refunds.lookUp(next)).toEqual({ status: 'not_found' });
    expect(await refunds.refund(next)).toMatchObject({ status: 'succeeded' });
    expect(await refunds.lookUp(first)).toMatchObject({ status: 'failed', gatewayRefundId });
  });

  test('another currency than the one its payer was charged in is never sent', async () => {
    const { payment, refundOf, refunds, returned } = await paid();
    expect(await refunds.refund({ ...refundOf('5'), currency: 'eur' })).toMatchObject({ status: 'failed' });
    payment.settlement_currency = 'eur';
    expect(await refunds.refund(refundOf('5'))).toMatchObject({ status: 'failed' });
    expect(returned()).toEqual([]);
  });

  test('where the try cannot be written down, no money goes back, and it is sent later', async () => {
    const { apiKey, companyId, refundOf, returned } = await paid();
    const { refunds } = openWhopGateway({ apiKey, companyId, hosts: [fake.url] });
    const request = refundOf('5');
    for (const how of ['unreachable', 'loses_answer'] as const) {
      fake.failNext('change', how);
      await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      expect(returned()).toEqual([]);
    }
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(returned()).toEqual([5]);
  });

  test('a payment that has no id yet cannot be refunded', async () => {
    const { refundOf, refunds } = await paid();
    await expect(refunds.lookUp({ ...refundOf('5'), chargeProviderId: null })).rejects.toThrow('has no id at whop');
  });
});

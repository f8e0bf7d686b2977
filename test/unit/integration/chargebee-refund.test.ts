import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { captureBeside, failLate } from '../../../dev/provider-fakes/chargebee/payment.ts';
import { refundInDashboard } from '../../../dev/provider-fakes/chargebee/refund.ts';
import { startChargebeeFake } from '../../../dev/provider-fakes/chargebee/server.ts';
import { GatewayOutcomeUnknown, mayBeResent, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { chargebeeUnderTest } from '../../support/gateways/chargebee-under-test.ts';
import { opened, type PayerCard } from '../../support/gateways/gateway-under-test.ts';

const fake = await startChargebeeFake();
afterAll(() => fake.close());
let under = chargebeeUnderTest(fake);
beforeEach(() => {
  under = chargebeeUnderTest(fake);
});

/** A payment of 12.5, and a refund of a part of it. */
async function paid(card: PayerCard = 'succeeds') {
  const { reference } = await opened(under);
  await under.pay(reference, card);
  const [payment] = under.books.paymentsOf(reference.token);
  const refundOf = (amount: string, chargeProviderId = payment!.id): RefundRequest => {
    const refundToken = `re_${randomUUID()}`;
    const names = { refundToken, token: wireToken(refundToken), providerId: null, chargeProviderId };
    return { ...reference, ...names, amount, currency: 'usd', metadata: {} };
  };
  return { payment: payment!, reference, refundOf, refunds: under.gateway.refunds };
}

/** Everything given back at the fake. */
const returned = () =>
  under.books
    .returned()
    .map(({ amount }) => amount)
    .toSorted((a, b) => Number(a) - Number(b));
const isUnknown = { name: 'GatewayOutcomeUnknown' };
/** Writes the notes of a payment as if they had been written so long ago. */
const age = (minutes: number) => {
  for (const comment of under.books.comments.values()) comment.created_at -= minutes * 60;
};

test('finding A2: a refund that arrived is found when Chargebee has forgotten its key, and is not sent again', async () => {
  const { refundOf, refunds } = await paid();
  const request = refundOf('5');
  fake.failNext('refund', 'loses_answer');
  await expect(refunds.refund(request)).rejects.toMatchObject(isUnknown);
  under.books.forgetKeys();
  expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded', amount: '5' });
  expect(returned()).toEqual(['5']);
});

test('finding A2: nothing is sent again after 25 minutes, while Chargebee still knows the key', () => {
  const { resend } = under.gateway.refunds;
  const sent = Date.parse('2026-01-01T00:00:00Z');
  const mayAfter = (minutes: number) => mayBeResent(resend, '2026-01-01T00:00:00Z', sent + minutes * 60_000);
  expect([24, 25, 30].map(mayAfter)).toEqual([true, false, false]);
});

test('sent at the same moment, the same refund or two, each gives back once and all of it in the end', async () => {
  const { refundOf, refunds } = await paid();
  const [first, second] = [refundOf('5'), refundOf('3')];
  const answers = await Promise.allSettled([first, first, second].map((request) => refunds.refund(request)));
  const definite = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  expect(definite.every((status) => status === 'succeeded')).toBe(true);
  for (const request of [first, second]) {
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(await refunds.lookUp(request)).toMatchObject({ status: 'succeeded', amount: request.amount });
  }
  expect(returned()).toEqual(['3', '5']);
});

test('two of one amount go one by one, so that neither is taken for the other', async () => {
  const { payment, refundOf, refunds } = await paid();
  const [first, second] = [refundOf('5'), refundOf('5')];
  fake.failNext('refund', 'unreachable');
  await expect(refunds.refund(first)).rejects.toMatchObject(isUnknown);
  await expect(refunds.refund(second)).rejects.toThrow('one by one');
  expect(await refunds.lookUp(first)).toEqual({ status: 'not_found' });
  expect(returned()).toEqual([]);
  const ids = [await refunds.refund(first), await refunds.refund(second)].map((refund) => refund.gatewayRefundId);
  expect(new Set(ids).size).toBe(2);
  // Chargebee lists the events of one second in any order.
  for (let order = 0; order < 2; order += 1) {
    payment.linked_refunds?.reverse();
    expect(await refunds.lookUp(first)).toMatchObject({ gatewayRefundId: ids[0] });
    expect(await refunds.lookUp(second)).toMatchObject({ gatewayRefundId: ids[1] });
  }
  expect(returned()).toEqual(['5', '5']);
});

test('two of one amount at the same moment go one by one too, and each is known by its own refund', async () => {
  const { payment, refundOf, refunds } = await paid();
  const both = [refundOf('5'), refundOf('5')];
  await Promise.allSettled(both.map((request) => refunds.refund(request)));
  const ids: (string | null)[] = [];
  for (const request of both) ids.push((await refunds.refund(request)).gatewayRefundId);
  expect(new Set(ids)).toEqual(new Set(payment.linked_refunds?.map(({ txn_id }) => txn_id)));
  for (const [index, request] of both.entries()) {
    expect(await refunds.lookUp(request)).toMatchObject({ gatewayRefundId: ids[index] });
  }
  expect(returned()).toEqual(['5', '5']);
});

test('one that never arrived holds another of its amount up only as long as it may arrive, and is never taken for it', async () => {
  const { refundOf, refunds } = await paid();
  const [lost, next] = [refundOf('5'), refundOf('5')];
  fake.failNext('refund', 'unreachable');
  await expect(refunds.refund(lost)).rejects.toMatchObject(isUnknown);
  age(36);
  expect(await refunds.refund(next)).toMatchObject({ status: 'succeeded' });
  expect(await refunds.lookUp(lost)).toEqual({ status: 'not_found' });
  expect(await refunds.lookUp(next)).toMatchObject({ status: 'succeeded' });
});

test('what was given back at Chargebee before is not taken for ours, and is told as made there', async () => {
  const { payment, refundOf, refunds, reference } = await paid();
  const elsewhere = refundInDashboard(under.books, payment.id, 500);
  const request = refundOf('5');
  fake.failNext('refund', 'unreachable');
  await expect(refunds.refund(request)).rejects.toMatchObject(isUnknown);
  expect(await refunds.lookUp(request)).toEqual({ status: 'not_found' });
  expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
  expect(returned()).toEqual(['5', '5']);
  const charge = { ...reference, chargeProviderId: payment.id };
  expect(await refunds.madeElsewhere!(charge)).toEqual([
    { status: 'succeeded', gatewayRefundId: elsewhere, amount: '5', currency: 'usd' },
  ]);
  const known = { ...refundOf('5'), providerId: elsewhere };
  expect(await refunds.lookUp(known)).toMatchObject({ status: 'succeeded', gatewayRefundId: elsewhere });
});

test('a refused one leaves nothing behind that a later one is taken for', async () => {
  const { payment, refundOf, refunds } = await paid();
  expect(await refunds.refund(refundOf('20'))).toMatchObject({
    status: 'failed',
    failureReason: 'invalid_state_for_request (refund_amount)',
  });
  expect(under.books.comments.size).toBe(0);
  expect(await refunds.refund(refundOf('12.5'))).toMatchObject({ status: 'succeeded' });
  expect(payment.linked_refunds).toHaveLength(1);
});

test('one that is refused because an earlier sending of it arrived has succeeded', async () => {
  const { refundOf, refunds } = await paid();
  const request = refundOf('12.5');
  fake.failNext('refund', 'loses_answer');
  await expect(refunds.refund(request)).rejects.toMatchObject(isUnknown);
  const [refund] = under.books.returned();
  // Chargebee shows it only when the second is on its way.
  const payment = under.books.transactions.get(request.chargeProviderId!)!;
  const linked = payment.linked_refunds!.splice(0);
  under.books.forgetKeys();
  fake.beforeNext('refund', () => payment.linked_refunds!.push(...linked));
  expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded', gatewayRefundId: refund!.id });
  expect(returned()).toEqual(['12.5']);
});

test('money that no invoice of Chargebee took goes back by its payment', async () => {
  const { reference, refundOf, refunds } = await paid();
  const beside = captureBeside(under.books, reference.providerId!);
  expect(beside.linked_invoices).toEqual([]);
  expect(await refunds.refund(refundOf('12.5', beside.id))).toMatchObject({ status: 'succeeded', amount: '12.5' });
  expect(beside).toMatchObject({ amount_unused: 0, linked_refunds: [{ txn_amount: 1250 }] });
});

test('finding A11: a payment that fails late has given its money back', async () => {
  const { payment, refundOf, refunds, reference } = await paid();
  const charge = { ...reference, chargeProviderId: payment.id };
  expect(await refunds.madeElsewhere!(charge)).toEqual([]);
  failLate(under.books, payment.id);
  const gatewayRefundId = `${payment.id}/late_failure`;
  const back = { status: 'succeeded', gatewayRefundId, amount: '12.5', currency: 'usd' };
  expect(await refunds.madeElsewhere!(charge)).toEqual([back]);
  expect(await refunds.lookUp({ ...refundOf('12.5'), providerId: gatewayRefundId })).toMatchObject(back);
});

test('another currency than that of the payment is never sent', async () => {
  const { refundOf, refunds } = await paid();
  expect(await refunds.refund({ ...refundOf('5'), currency: 'eur' })).toMatchObject({ status: 'failed' });
  expect([returned(), under.books.comments.size]).toEqual([[], 0]);
});

test.each(['unreachable', 'half', '500', 'operation_failed'] as const)(
  'where it cannot be written down (%s), no money goes back',
  async (how) => {
    const { refundOf, refunds } = await paid();
    fake.failNext('mark', how);
    await expect(refunds.refund(refundOf('5'))).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(returned()).toEqual([]);
  },
);

test('a payment that is not known yet cannot be refunded', async () => {
  const { refundOf, refunds } = await paid();
  await expect(refunds.refund({ ...refundOf('5'), chargeProviderId: null })).rejects.toThrow('has no id at chargebee');
});

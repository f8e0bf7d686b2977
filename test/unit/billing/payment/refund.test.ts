import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DisputeStatus, isDisputeMove } from '../../../../billing/payment/dispute.ts';
import {
  assertRetryable,
  combinedRefundStatus,
  planRefunds,
  type RefundablePayment,
  type RefundStatus,
  refundAgenda,
  refundReasonOf,
  refundTokenOf,
  rollUpRefunds,
} from '../../../../billing/payment/refund.ts';
import { refusalOf } from '../refused.ts';

const at = '2026-03-01T00:00:00.000Z';
const payment = (id: string, amount: string, fields: Partial<RefundablePayment> = {}): RefundablePayment => ({
  id,
  amount,
  refundedAmount: '0',
  paymentStatus: 'SUCCEEDED',
  succeededAt: at,
  refundable: true,
  ...fields,
});

describe('refunds', () => {
  it('to the wallet are one row, whatever was paid', () => {
    expect(planRefunds('70', 'PREPAID_WALLET', [payment('a', '100')])).toEqual([
      { destination: 'WALLET', paymentId: null, amount: '70' },
    ]);
  });

  it('to the source take the newest payment first, and of one instant the highest id', () => {
    const payments = [
      payment('a', '10'),
      payment('b', '10'),
      payment('c', '10', { succeededAt: '2026-02-01T00:00:00Z' }),
    ];
    const plan = planRefunds('25', 'BACK_TO_SOURCE', payments);
    expect(plan.map(({ paymentId, amount }) => `${paymentId} ${amount}`)).toEqual(['b 10', 'a 10', 'c 5']);
  });

  it('lose nothing and give no payment back more than it took', () => {
    const cents = fc.integer({ min: 0, max: 5_000 });
    const payments = fc.array(fc.record({ amount: cents, refunded: cents, refundable: fc.boolean() }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), payments, (amount, drawn) => {
        const money = (n: number) => (n / 100).toFixed(2);
        const given = drawn.map((one, index) =>
          payment(`p${index}`, money(one.amount), {
            refundedAmount: money(Math.min(one.refunded, one.amount)),
            refundable: one.refundable,
          }),
        );
        const plan = planRefunds(money(amount), 'BACK_TO_SOURCE', given);
        expect(Math.round(plan.reduce((total, part) => total + Number(part.amount) * 100, 0))).toBe(amount);
        for (const part of plan) {
          const from = given.find(({ id }) => id === part.paymentId);
          if (!from) continue;
          expect(Number(part.amount)).toBeLessThanOrEqual(Number(from.amount) - Number(from.refundedAmount) + 1e-9);
          expect(part.destination).toBe(from.refundable ? 'GATEWAY' : 'WALLET');
        }
      }),
    );
  });

  it('move their payment when they succeed, and reserve room while they are open', () => {
    const refunds = [
      { amount: '30', refundStatus: 'SUCCEEDED' },
      { amount: '20', refundStatus: 'PROCESSING' },
      { amount: '10', refundStatus: 'CANCELLED' },
    ];
    const partly = { refunded: '30', paymentStatus: 'PARTIALLY_REFUNDED', stillRefundable: '50' };
    expect(rollUpRefunds('100', refunds)).toEqual(partly);
    expect(rollUpRefunds('30', refunds).paymentStatus).toBe('REFUNDED');
    expect(rollUpRefunds('30', [], 'OVERPAID').paymentStatus).toBe('OVERPAID');
  });

  it('of a note stand as the one that needs somebody first', () => {
    const of = (...statuses: RefundStatus[]) => combinedRefundStatus(statuses);
    expect([of(), of('SUCCEEDED', 'FAILED'), of('SUCCEEDED', 'PENDING'), of('SUCCEEDED')]).toEqual([
      null,
      'FAILED',
      'PENDING',
      'SUCCEEDED',
    ]);
  });

  it('are sent, asked about, and tried again; one that was replaced waits for nothing', () => {
    const kinds = (refundStatus: RefundStatus, replacedBy: string | null = null) =>
      refundAgenda({ refundStatus, replacedBy, sentAt: at }, at).map((item) => `${item.kind} ${item.at.slice(11, 19)}`);
    expect(kinds('PENDING')).toEqual(['sendRefund 00:00:00']);
    expect(kinds('PROCESSING')).toEqual(['pollGateway 00:00:05', 'reportUnanswered 00:00:00']);
    expect(kinds('FAILED')).toEqual(['retryRefund 00:15:00']);
    expect([...kinds('FAILED', 'refund_2'), ...kinds('SUCCEEDED'), ...kinds('CANCELLED')]).toEqual([]);
  });

  it('of a gateway that takes days are asked about all along, and reported when its time is over', () => {
    const report = (expectedBy: string | null) =>
      refundAgenda({ refundStatus: 'PROCESSING', replacedBy: null, sentAt: at }, at, expectedBy);
    expect(report('2026-03-11T00:00:00.000Z')).toMatchObject([
      { kind: 'pollGateway', at: '2026-03-01T00:00:05.000Z' },
      { kind: 'reportUnanswered', at: '2026-03-11T00:00:00.000Z' },
    ]);
    for (const soon of ['2026-03-01T01:00:00.000Z', null])
      expect(report(soon)[1]).toMatchObject({ kind: 'reportUnanswered', at: '2026-03-02T00:00:00.000Z' });
  });

  it('are known to the gateway by their id, and by its number on a retry', () => {
    expect([refundTokenOf('refund_1', 0), refundTokenOf('refund_1', 2)]).toEqual(['refund_1', 'refund_1:2']);
  });

  it.each(['PENDING', 'PROCESSING', 'SUCCEEDED', 'CANCELLED'])('that are %s are not retried', (refundStatus) => {
    expect(refusalOf(() => assertRetryable({ refundStatus, replacedBy: null }))?.code).toBe('invalid_operation');
  });

  it('that were replaced are not retried', () => {
    expect(refusalOf(() => assertRetryable({ refundStatus: 'FAILED', replacedBy: 'refund_2' }))?.message).toContain(
      'refund_2',
    );
    expect(refusalOf(() => assertRetryable({ refundStatus: 'FAILED', replacedBy: null }))).toBeNull();
  });

  it('have the reason of their note, or OTHER', () => {
    expect(['FRAUDULENT', 'SUBSCRIPTION_CANCELLATION', 'BILLING_ERROR'].map(refundReasonOf)).toEqual([
      'FRAUDULENT',
      'REQUESTED_BY_CUSTOMER',
      'OTHER',
    ]);
  });
});

describe('a dispute', () => {
  it('is decided once, and lost for good', () => {
    const statuses: DisputeStatus[] = ['open', 'won', 'lost'];
    const moves = statuses.flatMap((from) => statuses.map((to) => [from, to] as const));
    const taken = moves.filter(([from, to]) => isDisputeMove(from, to)).map((move) => move.join(' '));
    expect(taken).toEqual(['open won', 'open lost', 'won lost']);
  });
});

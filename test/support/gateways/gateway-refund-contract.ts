import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import {
  chargeRequest,
  type GatewayUnderTest,
  opened,
  type PayerCard,
  referenceOf,
  sent,
} from './gateway-under-test.ts';

/** The part of the adapter contract about refunds. */
export function refundContract(under: () => GatewayUnderTest): void {
  /** Captured money, of a saved method or else of a link, and a refund of a part of it. */
  async function captured(card: PayerCard = 'succeeds', amount = '12.5'): Promise<RefundRequest> {
    const { gateway, savedMethod, pay } = under();
    if (!savedMethod) {
      const { reference } = await opened(under());
      await pay(reference, card);
      const [capture] = (await gateway.links!.read(reference)).captures;
      return refundOf(reference, capture!.chargeProviderId, amount);
    }
    const { token, customerToken } = await savedMethod(card);
    const request = chargeRequest(token, customerToken);
    const { gatewayPaymentId } = await sent(gateway, request);
    return refundOf(request, gatewayPaymentId, amount);
  }

  const refundOf = (of: GatewayReference, chargeProviderId: string, amount: string): RefundRequest => {
    const refundToken = `re_${randomUUID()}`;
    const reference = { ...referenceOf(of.intentToken), token: wireToken(refundToken), chargeProviderId };
    return { ...reference, refundToken, amount, currency: 'usd', metadata: {} };
  };

  test('refund twice: one token gives money back once', async () => {
    const { gateway, refundsOf, knowsIdsAlone } = under();
    const request = await captured();
    expect(await gateway.refunds!.lookUp(request)).toEqual({ status: 'not_found' });
    const first = await gateway.refunds!.refund(request);
    expect(first).toMatchObject({ status: 'succeeded', amount: '12.5', currency: 'usd' });
    expect(await gateway.refunds!.refund(request)).toMatchObject({ gatewayRefundId: first.gatewayRefundId });
    const asked = knowsIdsAlone ? { ...request, providerId: first.gatewayRefundId } : request;
    expect(await gateway.refunds!.lookUp(asked)).toMatchObject({ gatewayRefundId: first.gatewayRefundId });
    expect(await refundsOf(request.refundToken)).toEqual(['12.5 usd']);
  });

  test('parts go back up to what was captured, and no more', async () => {
    const { gateway } = under();
    const first = await captured('succeeds', '7.5');
    expect(await gateway.refunds!.refund(first)).toMatchObject({ status: 'succeeded' });
    const tooMuch = refundOf(first, first.chargeProviderId!, '5.01');
    expect(await gateway.refunds!.refund(tooMuch)).toMatchObject({ status: 'failed' });
    const rest = refundOf(first, first.chargeProviderId!, '5');
    expect(await gateway.refunds!.refund(rest)).toMatchObject({ status: 'succeeded' });
  });

  test('failed refund: refused with a reason; and one that succeeded can be taken back', async () => {
    const { gateway, reverseRefund } = under();
    const refused = await captured('refund_fails');
    const failed = { status: 'failed', failureReason: expect.any(String) };
    expect(await gateway.refunds!.refund(refused)).toMatchObject(failed);
    if (!reverseRefund) return;
    const request = await captured();
    const { gatewayRefundId } = await gateway.refunds!.refund(request);
    await reverseRefund({ ...request, providerId: gatewayRefundId });
    expect(await gateway.refunds!.lookUp({ ...request, providerId: gatewayRefundId })).toMatchObject(failed);
  });

  test('lost before the effect and behind it: asked and sent again it gives back once', async () => {
    const { gateway, failNext, refundsOf } = under();
    for (const how of ['unreachable', 'loses_answer'] as const) {
      const request = await captured();
      await failNext('refund', how);
      await expect(gateway.refunds!.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      expect(await gateway.refunds!.lookUp(request)).toMatchObject({
        status: how === 'unreachable' ? 'not_found' : 'succeeded',
      });
      await gateway.refunds!.refund(request);
      expect(await refundsOf(request.refundToken)).toEqual(['12.5 usd']);
    }
  });

  test('a refund that takes time is processing', async () => {
    const { gateway, reverseRefund } = under();
    if (!reverseRefund) return;
    const request = await captured('refund_never_answers');
    expect(await gateway.refunds!.refund(request)).toMatchObject({ status: 'processing' });
    expect(await gateway.refunds!.lookUp(request)).toMatchObject({ status: 'processing' });
  });

  test('what a link took is given back by the gateway’s own id of it', async () => {
    const { gateway, pay, refundsOf } = under();
    const { reference } = await opened(under());
    await pay(reference, 'succeeds');
    const [capture] = (await gateway.links!.read(reference)).captures;
    const request = refundOf(reference, capture!.chargeProviderId, '12.5');
    expect(await gateway.refunds!.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(await refundsOf(request.refundToken)).toEqual(['12.5 usd']);
  });
}

import type { RefundOutcome } from '../../billing/payment/refund.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  mayBeResent,
  type PaymentGateway,
  type RefundRequest,
  type Refunds,
} from '../../integrations/payment-gateway.ts';
import { gatewayCode, reasonOf } from '../integration/gateway-reason.ts';

/**
 * Asks about a refund by its token first, and sends it only when it never arrived: one token gives money back once. A try that is
 * not the first is sent again only while the gateway still knows what it was sent. design: money-in-checkout §A2
 */
export async function askRefundAgain(
  gateway: PaymentGateway,
  request: RefundRequest & { isFirst: boolean },
): Promise<RefundOutcome> {
  if (!gateway.refunds) return unknownRefund(`the gateway ${gateway.name} gives no money back`);
  let answer: GatewayRefund;
  try {
    answer = await lookUpOrSend(gateway.refunds, request);
  } catch (error) {
    return unknownRefund(reasonOf(error));
  }
  return outcomeOf(answer, request);
}

/**
 * Asks about a refund that had succeeded, which a bank may have sent back since. Nothing is sent. Throws an outage where the gateway gives no
 * answer, so that the question is repeated: nobody else asks. design: money-in-checkout §A11
 */
export async function askSettledRefund(gateway: PaymentGateway, request: RefundRequest): Promise<RefundOutcome> {
  if (!gateway.refunds) return unknownRefund(`the gateway ${gateway.name} gives no money back`);
  const known = await gateway.refunds.lookUp(request).catch((error: unknown) => {
    throw Object.assign(new Error(reasonOf(error), { cause: error }), { code: 'ETIMEDOUT' });
  });
  return known.status === 'not_found' ? unknownRefund('the gateway does not know it') : outcomeOf(known, request);
}

function outcomeOf(answer: GatewayRefund, request: RefundRequest): RefundOutcome {
  if (answer.amount !== request.amount || answer.currency !== request.currency) {
    return unknownRefund('the gateway answered for another amount or currency');
  }
  return {
    status: answer.status,
    gatewayRefundId: answer.gatewayRefundId,
    reason: gatewayCode(answer.failureReason, 'refund_failed'),
    ...(answer.expectedBy ? { expectedBy: answer.expectedBy } : {}),
  };
}

async function lookUpOrSend(
  refunds: Refunds,
  { isFirst, ...request }: RefundRequest & { isFirst: boolean },
): Promise<GatewayRefund> {
  const known = await refunds.lookUp(request);
  if (known.status !== 'not_found') return known;
  if (!isFirst && !mayBeResent(refunds.resend, request.createdAt, Date.now())) {
    throw new GatewayOutcomeUnknown(
      'the gateway does not know the refund, and it was first sent too long ago to be sent again',
    );
  }
  return refunds.refund(request);
}

/** Nothing definite is known of a refund. */
export function unknownRefund(reason: string): RefundOutcome {
  return { status: 'unknown', gatewayRefundId: null, reason };
}

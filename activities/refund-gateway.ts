import type { RefundOutcome } from '../billing/refund.ts';
import type { RefundOfCharge } from '../db/stores/payment/refund-send.ts';
import { GatewayOutcomeUnknown, type GatewayRefund, type PaymentGateway } from '../integrations/payment-gateway.ts';

/** Asks about a refund by its token first, and sends it only when it never arrived: one token gives money back once. */
export async function askRefundAgain(gateway: PaymentGateway, request: RefundOfCharge): Promise<RefundOutcome> {
  if (!gateway.refund || !gateway.lookUpRefund) return unknownRefund(`the gateway ${gateway.name} gives no money back`);
  let answer: GatewayRefund;
  try {
    const known = await gateway.lookUpRefund(request.token);
    answer = known.status === 'not_found' ? await gateway.refund(request) : known;
  } catch (error) {
    return unknownRefund(reasonOf(error));
  }
  if (answer.amount !== request.amount || answer.currency !== request.currency) {
    return unknownRefund('the gateway answered for another amount or currency');
  }
  return { status: answer.status, gatewayRefundId: answer.gatewayRefundId, reason: answer.failureReason };
}

/** Nothing definite is known of a refund. */
export function unknownRefund(reason: string): RefundOutcome {
  return { status: 'unknown', gatewayRefundId: null, reason };
}

/** The text of our own errors; a foreign error is only named, because its text may hold what must not be kept. */
function reasonOf(error: unknown): string {
  if (error instanceof GatewayOutcomeUnknown) return error.message.slice(0, 500);
  return `the gateway call failed: ${error instanceof Error ? error.name : 'unknown error'}`;
}

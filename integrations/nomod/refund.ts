import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfNomod, nomodAmount } from './amount.ts';
import type { NomodClient } from './client.ts';
import { checkoutOf } from './link.ts';
import {
  idsInName,
  type NomodCharge,
  type NomodChargeDetail,
  type NomodCheckout,
  type NomodRefund,
  refundTotalOf,
} from './shapes.ts';

/** Nomod does not say how long it knows a key; a day less an hour bounds it. */
const nomodResend = { untilMs: 23 * 3_600_000 };
/** Nomod's pages have both words. */
const done = new Set(['completed', 'succeeded']);

/**
 * Refunds of charges. Nomod shows no ids of them: a charge tells what went back in all, and what became of one the idempotency key of
 * the refund itself, which answers the refund of its first use. So a look-up that cannot tell says `not_found`, and the same key is
 * sent again while it may be. design: money-in-checkout §C nomod
 */
export function nomodRefunds(client: NomodClient): Refunds {
  return {
    resend: nomodResend,
    refund: (request) => refund(client, request),
    lookUp: async (request) => standing(await checkoutOf(client, chargeOf(request).checkoutId), request),
    givenBack: (charge) => givenBack(client, charge),
  };
}

async function refund(client: NomodClient, request: RefundRequest): Promise<GatewayRefund> {
  const { checkoutId } = chargeOf(request);
  const checkout = await checkoutOf(client, checkoutId);
  if (checkout.currency.toLowerCase() !== request.currency.toLowerCase()) {
    return failed(request, `the payment is in ${checkout.currency.toLowerCase()}`);
  }
  const answer = await client.post<NomodRefund>(`/checkout/${encodeURIComponent(checkoutId)}/refund`, {
    amount: nomodAmount(request.amount, request.currency),
    idempotency_key: request.token,
    reference_id: request.token,
    metadata: { token: request.token },
  });
  if (answer.refusal === null) return told(answer.object, request);
  // Nothing is left to give back: by this refund, whose key Nomod has forgotten, or by somebody's in its dashboard.
  const arrived = standing(await checkoutOf(client, checkoutId), request);
  return arrived.status === 'not_found' ? failed(request, answer.refusal) : arrived;
}

/** A refund by its charge alone: it is done where all of the charge went back. */
function standing(checkout: NomodCheckout, request: RefundRequest): GatewayRefundLookUp {
  const charge = chargeIn(checkout, chargeOf(request).chargeId);
  if (charge.status !== 'refunded') return { status: 'not_found' };
  const { amount, currency } = request;
  return { status: 'succeeded', gatewayRefundId: refundIdOf(request), amount, currency, failureReason: null };
}

/**
 * Sum that was given back of a charge, whoever did it. Null where it is not all, and the key may not read charges, which alone tell how much.
 */
async function givenBack(client: NomodClient, charge: GatewayReference): Promise<string | null> {
  const { checkoutId, chargeId } = chargeOf(charge);
  const { status, amount } = chargeIn(await checkoutOf(client, checkoutId), chargeId);
  if (status === 'refunded') return amountOfNomod(amount);
  const detail = await client.find<NomodChargeDetail>(`/charges/${encodeURIComponent(chargeId)}`);
  return detail && amountOfNomod(refundTotalOf(detail));
}

function chargeIn({ charges }: NomodCheckout, chargeId: string): NomodCharge {
  const charge = charges?.find(({ id }) => id === chargeId);
  if (!charge) throw new GatewayOutcomeUnknown('the page at nomod does not show the charge that is refunded');
  return charge;
}

function refundIdOf({ providerId, token }: RefundRequest): string {
  return providerId ?? token;
}

/** Nomod's answer to a refund. Throws where money went back by another refund or charge than was asked: a person has to look. */
function told({ refund_id, charge_id, status }: NomodRefund, request: RefundRequest): GatewayRefund {
  const { chargeId } = chargeOf(request);
  const isAnother = ![null, request.token, refund_id].includes(request.providerId);
  if (isAnother || charge_id !== chargeId) {
    throw new GatewayOutcomeUnknown(
      `nomod gave back the charge ${charge_id} by the refund ${refund_id}, which is not what was asked: look at both there`,
    );
  }
  const { amount, currency } = request;
  return {
    // A word that Nomod does not list decides nothing.
    status: status === 'failed' ? 'failed' : done.has(status) ? 'succeeded' : 'processing',
    gatewayRefundId: refund_id,
    amount,
    currency,
    failureReason: status === 'failed' ? 'refund_failed' : null,
  };
}

function failed({ amount, currency }: RefundRequest, failureReason: string): GatewayRefund {
  return { status: 'failed', gatewayRefundId: null, amount, currency, failureReason };
}

function chargeOf({ chargeProviderId }: GatewayReference): { checkoutId: string; chargeId: string } {
  const ids = idsInName(chargeProviderId ?? '');
  if (ids) return ids;
  throw new GatewayOutcomeUnknown('the payment has no ids of nomod yet, by which it could be refunded');
}

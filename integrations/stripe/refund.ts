import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfStripe, stripeAmount } from './amount.ts';
import { stripeResend } from './charge.ts';
import { listAll, reasonOf, type StripeClient } from './client.ts';
import type { StripeRefund } from './shapes.ts';

/**
 * Refunds of payment intents. They are found by our token among those of the charge, never by an id alone: a refused one and its next try
 * are two refunds. design: money-in-checkout §C stripe
 */
export function stripeRefunds(client: StripeClient): Refunds {
  return {
    resend: stripeResend,
    refund: (request) => refund(client, request),
    lookUp: (request) => lookUp(client, request),
    madeElsewhere: (charge) => madeElsewhere(client, charge),
  };
}

async function refund(client: StripeClient, request: RefundRequest): Promise<GatewayRefund> {
  const answer = await client.post<StripeRefund>(
    '/refunds',
    {
      payment_intent: chargeOf(request),
      amount: stripeAmount(request.amount, request.currency),
      metadata: { ...request.metadata, perennial_token: request.token, perennial_refund: request.refundToken },
    },
    request.token,
  );
  if (answer.error === null) return wireRefund(answer.object);
  // A refusal makes no refund at Stripe; the next try has another token.
  return {
    status: 'failed',
    gatewayRefundId: null,
    amount: request.amount,
    currency: request.currency,
    failureReason: reasonOf(answer.error),
  };
}

async function lookUp(client: StripeClient, request: RefundRequest): Promise<GatewayRefundLookUp> {
  const refunds = await refundsOf(client, request);
  const ours = refunds.find(({ metadata }) => metadata.perennial_token === request.token);
  // One that was made at Stripe has no token; it is known by its id alone.
  const found = ours ?? refunds.find((refund) => isMadeElsewhere(refund) && refund.id === request.providerId);
  return found ? wireRefund(found) : { status: 'not_found' };
}

async function madeElsewhere(client: StripeClient, charge: GatewayReference): Promise<RefundElsewhere[]> {
  return (await refundsOf(client, charge)).filter(isMadeElsewhere).map((refund) => {
    const { status, amount, currency } = wireRefund(refund);
    return { status, gatewayRefundId: refund.id, amount, currency };
  });
}

function refundsOf(client: StripeClient, charge: GatewayReference): Promise<StripeRefund[]> {
  return listAll<StripeRefund>(client, '/refunds', { payment_intent: chargeOf(charge) });
}

function isMadeElsewhere({ metadata }: StripeRefund): boolean {
  return metadata.perennial_token === undefined;
}

/** Id of the payment intent of a charge. Throws `GatewayOutcomeUnknown` before Stripe told it. */
export function chargeOf({ chargeProviderId }: GatewayReference): string {
  if (chargeProviderId !== null) return chargeProviderId;
  throw new GatewayOutcomeUnknown('the payment has no id at stripe yet, by which it could be refunded');
}

function wireRefund(refund: StripeRefund): GatewayRefund {
  const isOver = refund.status === 'failed' || refund.status === 'canceled';
  return {
    status: isOver ? 'failed' : refund.status === 'succeeded' ? 'succeeded' : 'processing',
    gatewayRefundId: refund.id,
    amount: amountOfStripe(refund.amount, refund.currency),
    currency: refund.currency,
    failureReason: isOver ? (refund.failure_reason ?? refund.status) : null,
  };
}

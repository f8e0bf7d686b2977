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
  const refunds = await listAll<StripeRefund>(client, '/refunds', { payment_intent: chargeOf(request) });
  const found = refunds.find(({ metadata }) => metadata.perennial_token === request.token);
  return found ? wireRefund(found) : { status: 'not_found' };
}

function chargeOf({ chargeProviderId }: RefundRequest): string {
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

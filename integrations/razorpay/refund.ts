import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfRazorpay, razorpayAmount } from './amount.ts';
import { listAll, type RazorpayAnswer, type RazorpayClient, reasonOf } from './client.ts';
import { notesOf } from './payment.ts';
import { noteOf, type RazorpayRefund } from './shapes.ts';

/**
 * Razorpay does not say how long it knows a key. The refunds of the payment, which are asked for before each sending, tell as long as they are
 * listed whether one arrived; a day less an hour bounds it all the same.
 */
const razorpayResend = { untilMs: 23 * 3_600_000 };
/** A refund at normal speed takes seven working days at most, which have eleven days with their week-ends. */
export const slowestRefundMs = 11 * 24 * 3_600_000;

/**
 * Refunds of payments. They are found by our token among those of the payment, never by an id alone: a refused one and its next try are two
 * refunds. design: money-in-checkout §C razorpay
 */
export function razorpayRefunds(client: RazorpayClient): Refunds {
  return {
    resend: razorpayResend,
    refund: (request) => refund(client, request),
    lookUp: (request) => lookUp(client, request),
    madeElsewhere: (charge) => madeElsewhere(client, charge),
  };
}

async function refund(client: RazorpayClient, request: RefundRequest): Promise<GatewayRefund> {
  const answer: RazorpayAnswer<RazorpayRefund> = await client.post(
    `/payments/${chargeOf(request)}/refund`,
    {
      amount: razorpayAmount(request.amount, request.currency),
      speed: 'normal',
      receipt: request.token,
      notes: notesOf(request.metadata, { perennial_token: request.token, perennial_refund: request.refundToken }),
    },
    request.token,
  );
  if (answer.error === null) return wireRefund(answer.object);
  // A payment that is refunded already may have been so by this very refund, whose key Razorpay has forgotten.
  const known = await lookUp(client, request);
  if (known.status !== 'not_found') return known;
  return {
    status: 'failed',
    gatewayRefundId: null,
    amount: request.amount,
    currency: request.currency,
    failureReason: reasonOf(answer.error),
  };
}

async function lookUp(client: RazorpayClient, request: RefundRequest): Promise<GatewayRefundLookUp> {
  const refunds = await refundsOf(client, request);
  const ours = refunds.find(({ notes }) => noteOf(notes, 'perennial_token') === request.token);
  // A refund made at Razorpay has no token; it is known by its id alone.
  const found = ours ?? refunds.find((refund) => isMadeElsewhere(refund) && refund.id === request.providerId);
  return found ? wireRefund(found) : { status: 'not_found' };
}

async function madeElsewhere(client: RazorpayClient, charge: GatewayReference): Promise<RefundElsewhere[]> {
  return (await refundsOf(client, charge)).filter(isMadeElsewhere).map((refund) => {
    const { status, amount, currency } = wireRefund(refund);
    return { status, gatewayRefundId: refund.id, amount, currency };
  });
}

async function refundsOf(client: RazorpayClient, charge: GatewayReference): Promise<RazorpayRefund[]> {
  return listAll<RazorpayRefund>(client, `/payments/${chargeOf(charge)}/refunds`);
}

function isMadeElsewhere({ notes }: RazorpayRefund): boolean {
  return noteOf(notes, 'perennial_token') === null;
}

function chargeOf({ chargeProviderId }: GatewayReference): string {
  if (chargeProviderId !== null) return chargeProviderId;
  throw new GatewayOutcomeUnknown('the payment has no id at razorpay yet, by which it could be refunded');
}

function wireRefund(refund: RazorpayRefund): GatewayRefund {
  const { id, status, amount, currency, created_at } = refund;
  return {
    status: status === 'failed' ? 'failed' : status === 'processed' ? 'succeeded' : 'processing',
    gatewayRefundId: id,
    amount: amountOfRazorpay(amount, currency),
    currency: currency.toLowerCase(),
    failureReason: status === 'failed' ? 'refund_failed' : null,
    ...(status === 'pending' ? { expectedBy: new Date(created_at * 1000 + slowestRefundMs).toISOString() } : {}),
  };
}

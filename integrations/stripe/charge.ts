import type { GatewayReference } from '../gateway-reference.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type TwoStepCharges,
} from '../payment-gateway.ts';
import { amountOfStripe, stripeAmount } from './amount.ts';
import { objectOf, type Parameters, reasonOf, type StripeClient, type StripeError } from './client.ts';
import { declineClassOfStripe } from './decline.ts';
import type { StripeIntent } from './shapes.ts';

/** Stripe remembers a key for at least 24 hours. design: money-in-checkout §A2 */
export const stripeResend = { untilMs: 23 * 3_600_000 };

/** Our names of an object, kept at it, so that a notification of it finds its way. */
export function markedWith({ token, intentToken, metadata }: GatewayReference & { metadata: Record<string, string> }) {
  return { ...metadata, perennial_token: token, perennial_intent: intentToken.slice(0, 500) };
}

/**
 * Charges of saved cards: a payment intent is made unconfirmed, its id is kept, and only then it is confirmed. The card is named with the
 * confirmation, so that a card that is gone is a decline and not a charge that could not be prepared.
 */
export function stripeCharges(client: StripeClient): TwoStepCharges {
  const lookUp = async ({ providerId }: GatewayReference): Promise<GatewayLookUp> =>
    providerId === null ? { status: 'not_found' } : chargeOf(await readIntent(client, providerId));
  return {
    resend: stripeResend,
    prepare: (request) => prepare(client, request),
    confirm: (request, providerId) => confirm(client, request, providerId),
    lookUp,
    cancel: async (reference) => {
      const { providerId } = reference;
      if (providerId === null) return { status: 'not_found' };
      const answer = await client.post<StripeIntent>(`/payment_intents/${providerId}/cancel`, {}, null);
      if (answer.error === null) return chargeOf(answer.object);
      // Captured, canceled or under way: what is true, its own look-up tells.
      return lookUp(reference);
    },
  };
}

async function prepare(client: StripeClient, request: ChargeRequest): Promise<{ providerId: string }> {
  const parameters: Parameters = {
    amount: stripeAmount(request.amount, request.currency),
    currency: request.currency,
    customer: request.customerToken,
    allowed_payment_method_types: ['card'],
    capture_method: 'automatic',
    description: request.description,
    metadata: markedWith(request),
  };
  const answer = await client.post<StripeIntent>('/payment_intents', parameters, request.token);
  return { providerId: objectOf(answer, 'prepare the charge').id };
}

async function confirm(client: StripeClient, request: ChargeRequest, providerId: string): Promise<GatewayCharge> {
  const answer = await client.post<StripeIntent>(
    `/payment_intents/${providerId}/confirm`,
    { payment_method: request.paymentMethodToken, off_session: request.offSession },
    `${request.token}-confirm`,
  );
  if (answer.error !== null) return refusedCharge(client, request, providerId, answer.error);
  const charge = chargeOf(await captured(client, answer.object));
  if (charge.status === 'not_found')
    throw new GatewayOutcomeUnknown('stripe confirmed the charge and did not begin it');
  return charge;
}

/** A definite refusal to confirm: a decline, or the answer of an earlier confirmation that was lost. */
async function refusedCharge(
  client: StripeClient,
  request: ChargeRequest,
  providerId: string,
  error: StripeError,
): Promise<GatewayCharge> {
  const known = chargeOf(await readIntent(client, providerId));
  if (known.status !== 'not_found') return known;
  const code = error.declineCode ?? error.code ?? error.type;
  return {
    status: 'declined',
    gatewayPaymentId: providerId,
    amount: request.amount,
    currency: request.currency,
    gatewayMetadata: {},
    declineReason: reasonOf(error),
    declineCode: code,
    declineClass: declineClassOfStripe(code),
    actionUrl: null,
  };
}

/** The intent of an id. One that is missing belongs to another account, which answers for nothing. design: money-in-checkout §A1 */
async function readIntent(client: StripeClient, id: string): Promise<StripeIntent> {
  const answer = await client.get<StripeIntent>(`/payment_intents/${id}`);
  return captured(client, objectOf(answer, `show ${id}`));
}

/** Money that was only reserved is captured at once. spec: README decision 33 */
async function captured(client: StripeClient, intent: StripeIntent): Promise<StripeIntent> {
  if (intent.status !== 'requires_capture') return intent;
  const answer = await client.post<StripeIntent>(`/payment_intents/${intent.id}/capture`, {}, `${intent.id}-capture`);
  return objectOf(answer, `capture ${intent.id}`);
}

/** A payment intent as a charge; one that was never confirmed is none. spec: wallets-and-payments §2.19 Provider status map */
export function chargeOf(intent: StripeIntent): GatewayLookUp {
  const error = intent.last_payment_error;
  const told = (status: GatewayCharge['status'], more: Partial<GatewayCharge> = {}): GatewayCharge => ({
    status,
    gatewayPaymentId: intent.id,
    amount: amountOfStripe(status === 'succeeded' ? intent.amount_received : intent.amount, intent.currency),
    currency: intent.currency,
    gatewayMetadata: { stripe_status: intent.status },
    declineReason: null,
    actionUrl: null,
    ...more,
  });
  if (intent.status === 'succeeded') return told('succeeded');
  if (intent.status === 'processing' || intent.status === 'requires_capture') return told('processing');
  if (intent.status === 'requires_action') {
    return told('requires_action', { actionUrl: intent.next_action?.redirect_to_url?.url ?? null });
  }
  if (intent.status === 'canceled')
    return told('declined', { declineReason: 'canceled', declineCode: 'canceled', declineClass: 'retry' });
  if (error === null) return { status: 'not_found' };
  const code = error.decline_code ?? error.code ?? 'card_declined';
  return told('declined', { declineReason: code, declineCode: code, declineClass: declineClassOfStripe(code) });
}

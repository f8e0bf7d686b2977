import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import {
  type LinkDecline,
  type LinkedMethod,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfStripe, refuseTooLittle, stripeAmount } from './amount.ts';
import { markedWith, stripeResend } from './charge.ts';
import { listAll, objectOf, type Parameters, reasonOf, type StripeClient } from './client.ts';
import { declineClassOfStripe } from './decline.ts';
import type { StripeCharge, StripeIntent, StripeMethod, StripeSession, StripeSetup } from './shapes.ts';

const minuteMs = 60_000;
/** Stripe takes 30 minutes after its own creation of the session, and no more than a day. */
const shortestMs = 30 * minuteMs;
const longestMs = 24 * 60 * minuteMs;
/** Time for the request to arrive, and for clocks that differ. */
const spareMs = 2 * minuteMs;

/** Checkout sessions of Stripe, on its own page. design: money-in-checkout §C stripe */
export function stripeLinks(client: StripeClient): PaymentLinks {
  return {
    resend: stripeResend,
    minimumLifeMs: shortestMs,
    closable: true,
    open: (request) => open(client, request),
    read: (reference) => read(client, reference),
    close: (reference) => close(client, reference),
  };
}

/**
 * The same parameters under the same key are the same session. The expiry counts from the request's own time as long as Stripe still takes
 * it; one that comes so late that it does not is sent with another, and Stripe says then whether the first one arrived.
 */
async function open(client: StripeClient, request: LinkRequest): Promise<OpenedLink> {
  if (request.mode === 'payment') refuseTooLittle(request.amount, request.currency);
  const asked = expiryOf(request, Date.parse(request.createdAt));
  const now = Date.now();
  const expiresMs = asked - now < shortestMs + spareMs / 2 ? expiryOf(request, now) : asked;
  const answer = await client.post<StripeSession>('/checkout/sessions', sessionOf(request, expiresMs), request.token);
  if (answer.error === null) return openedLink(answer.object);
  if (answer.error.type === 'idempotency_error') {
    const known = await findByToken(client, request);
    if (known) return openedLink(known);
    throw new GatewayOutcomeUnknown('stripe knows the link by its token and does not list it yet');
  }
  throw refuse('validation_error', `stripe does not open a payment page for this: ${reasonOf(answer.error)}`, {
    fields: { payment_provider: reasonOf(answer.error) },
  });
}

function expiryOf(request: LinkRequest, fromMs: number): number {
  const least = Math.max(Date.parse(request.expiresAt), fromMs + shortestMs + spareMs);
  return Math.min(least, fromMs + longestMs - spareMs);
}

/** Card alone, so that money is decided at once; nothing that would change the amount. design: money-in-checkout §A5, §A7 */
function sessionOf(request: LinkRequest, expiresMs: number): Parameters {
  const { mode, customer, returnUrl, token } = request;
  const metadata = markedWith(request);
  const payment: Parameters = {
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency,
          unit_amount: mode === 'payment' ? stripeAmount(request.amount, request.currency) : null,
          product_data: { name: request.description },
        },
      },
    ],
    adaptive_pricing: { enabled: false },
    customer_creation: request.saveMethod && customer.token === null ? 'always' : null,
    payment_intent_data: {
      description: request.description,
      metadata,
      setup_future_usage: request.saveMethod ? 'off_session' : null,
    },
  };
  return {
    mode,
    client_reference_id: token,
    allowed_payment_method_types: ['card'],
    customer: customer.token,
    customer_email: customer.token === null ? customer.email : null,
    ...(mode === 'payment'
      ? payment
      : { customer_creation: customer.token === null ? 'always' : null, setup_intent_data: { metadata } }),
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: Math.floor(expiresMs / 1000),
    metadata,
  };
}

function openedLink(session: StripeSession): OpenedLink {
  const { id, url, expires_at } = session;
  if (url === null) throw new GatewayOutcomeUnknown(`stripe's page ${id} has ended already`);
  return { providerId: id, url, expiresAt: instantOf(expires_at) };
}

/** A session by our token, among those made since: lists show what was made at once, searches do not. */
async function findByToken(
  client: StripeClient,
  { token, createdAt }: GatewayReference,
): Promise<StripeSession | null> {
  const since = Math.floor(Date.parse(createdAt) / 1000) - spareMs / 1000;
  const sessions = await listAll<StripeSession>(client, '/checkout/sessions', {
    created: { gte: since, lte: since + longestMs / 1000 },
  });
  return sessions.find(({ client_reference_id }) => client_reference_id === token) ?? null;
}

async function close(client: StripeClient, reference: GatewayReference): Promise<LinkState> {
  const id = reference.providerId ?? (await findByToken(client, reference))?.id;
  if (id === undefined) return neverOpened;
  // Refused when it is paid, under way or ended; reading tells which.
  await client.post<StripeSession>(`/checkout/sessions/${id}/expire`, {}, null);
  return read(client, { ...reference, providerId: id });
}

async function read(client: StripeClient, reference: GatewayReference): Promise<LinkState> {
  const id = reference.providerId ?? (await findByToken(client, reference))?.id;
  if (id === undefined) return neverOpened;
  const answer = await client.get<StripeSession>(`/checkout/sessions/${id}`, {
    expand: ['payment_intent.payment_method', 'setup_intent.payment_method'],
  });
  const session = objectOf(answer, `show ${id}`);
  const intent = objectMember(session.payment_intent);
  const charges = intent === null ? [] : await chargesOf(client, intent);
  return stateOf(session, intent, charges);
}

async function chargesOf(client: StripeClient, intent: StripeIntent): Promise<StripeCharge[]> {
  const charges = await listAll<StripeCharge>(client, '/charges', { payment_intent: intent.id });
  return charges.toReversed();
}

function stateOf(session: StripeSession, intent: StripeIntent | null, charges: readonly StripeCharge[]): LinkState {
  const setup = objectMember(session.setup_intent);
  const isCaptured = intent?.status === 'succeeded';
  const capture = charges.find(({ status, paid }) => paid && status === 'succeeded');
  return {
    status: statusOf(session, intent, setup),
    providerId: session.id,
    url: session.url,
    expiresAt: instantOf(session.expires_at),
    captures: isCaptured
      ? [
          {
            chargeProviderId: intent.id,
            amount: amountOfStripe(intent.amount_received, intent.currency),
            currency: intent.currency,
            capturedAt: instantOf(capture?.created ?? intent.created),
          },
        ]
      : [],
    declines: charges.flatMap(declineOf),
    savedMethod: savedMethodOf(session, isCaptured ? intent : null, setup),
  };
}

/** `complete` without money is a payment that is decided later, and `paid` is what was captured, whatever the session says. */
function statusOf(session: StripeSession, intent: StripeIntent | null, setup: StripeSetup | null): LinkState['status'] {
  if (intent?.status === 'succeeded' || setup?.status === 'succeeded') return 'paid';
  if (intent?.status === 'processing' || intent?.status === 'requires_capture') return 'processing';
  if (session.status === 'open') return 'open';
  const isUndecided =
    session.status === 'complete' && intent?.status !== 'canceled' && intent?.last_payment_error == null;
  return isUndecided && session.mode === 'payment' ? 'processing' : 'dead';
}

function declineOf(charge: StripeCharge): LinkDecline[] {
  if (charge.status !== 'failed') return [];
  const code = charge.outcome?.reason ?? charge.failure_code ?? 'card_declined';
  return [{ chargeProviderId: charge.id, code, class: declineClassOfStripe(code) }];
}

/** The method that was kept for a customer of Stripe; without one it cannot be charged again. */
function savedMethodOf(
  session: StripeSession,
  paid: StripeIntent | null,
  setup: StripeSetup | null,
): LinkedMethod | null {
  const ofPayment = paid?.setup_future_usage === 'off_session' ? paid.payment_method : null;
  const method: StripeMethod | null = objectMember(setup?.status === 'succeeded' ? setup.payment_method : ofPayment);
  if (method === null || session.customer === null) return null;
  return {
    token: method.id,
    customerToken: session.customer,
    brand: method.card?.brand ?? '',
    lastFour: method.card?.last4 ?? '',
    fingerprint: method.card?.fingerprint ?? null,
  };
}

function objectMember<T extends object>(member: string | T | null): T | null {
  return typeof member === 'object' ? member : null;
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

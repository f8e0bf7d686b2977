import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import type { LinkDecline, LinkedMethod, LinkRequest, LinkState, OpenedLink } from '../payment-link.ts';
import { amountOfRazorpay, razorpayAmount, refuseTooLittle } from './amount.ts';
import { objectOf, type RazorpayClient, reasonOf } from './client.ts';
import {
  captureOf,
  declineOf,
  instantOf,
  isCaptured,
  isTelephone,
  isUndecided,
  notesOf,
  paymentsOfOrder,
} from './payment.ts';
import {
  noteOf,
  type RazorpayCollection,
  type RazorpayPayment,
  type RazorpayRegistration,
  type RazorpayToken,
} from './shapes.ts';

const minuteMs = 60_000;
/** Razorpay takes 15 minutes after its own creation of the link; two more for the request to arrive. */
const shortestMs = 17 * minuteMs;
/** Time that a bank has to confirm a mandate whose first payment it took. */
const confirmedWithinMs = 36 * 60 * minuteMs;
/** Taken where a card is saved alone, and given back: a mandate begins with a payment, and that of a card is of one rupee. */
const verification = { amount: 100, currency: 'INR' };
const inr = 'inr';

/** True of a page that has to make a mandate. */
export function keepsMethod({ mode, saveMethod }: LinkRequest): boolean {
  return mode === 'setup' || saveMethod;
}

/** Registration links are invoices of Razorpay. */
export function isRegistration(id: string): boolean {
  return id.startsWith('inv_');
}

/**
 * A registration link, on whose page a payer makes a mandate: by card and one rupee, or by UPI and the payment itself. It has our token as
 * its receipt, by which it is looked for before it is made. Throws a refusal (`invalid_operation`, `validation_error`) for what makes no mandate.
 * design: money-in-checkout §B25, §C razorpay
 */
export async function openRegistration(client: RazorpayClient, request: LinkRequest): Promise<OpenedLink> {
  refuseUnable(request);
  const known = await findRegistration(client, request);
  if (known) return openedLink(known);
  const answer = await client.post<RazorpayRegistration>(
    '/subscription_registration/auth_links',
    registrationOf(request),
  );
  if (answer.error === null) return openedLink(answer.object);
  throw refuse('validation_error', `razorpay does not open a payment page for this: ${reasonOf(answer.error)}`, {
    fields: { payment_provider: reasonOf(answer.error) },
  });
}

function refuseUnable({ mode, payBy, amount, currency, customer }: LinkRequest): void {
  if (mode === 'payment' && payBy === 'CARD') {
    const problem =
      'razorpay keeps no card of a payment: have the card saved first, by a setup intent, or take UPI or send_invoice';
    throw refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
  }
  for (const [name, value] of [
    ['email', customer.email],
    ['contact', isTelephone(customer.contact) ? customer.contact : null],
  ] as const) {
    if (value !== null) continue;
    const problem = `the customer has no ${name} that razorpay takes, which it needs to charge without its payer`;
    throw refuse('validation_error', problem, { fields: { [name]: problem } });
  }
  if (mode === 'setup') return;
  refuseTooLittle(amount, currency);
  if (currency.toLowerCase() === inr) return;
  const rule = 'razorpay takes UPI in inr alone';
  throw refuse('validation_error', `${currency} cannot be paid by UPI: ${rule}`, { fields: { payment_method: rule } });
}

function registrationOf({ mode, token, customer, mandateLimit, ...request }: LinkRequest) {
  const isSetup = mode === 'setup';
  const amount = razorpayAmount(isSetup ? '1' : request.amount, inr);
  const expiresMs = Math.max(Date.parse(request.expiresAt), Date.now() + shortestMs);
  return {
    type: 'link',
    ...(isSetup ? verification : { amount, currency: 'INR' }),
    description: request.description,
    receipt: token,
    customer: { name: customer.name.slice(0, 50), email: customer.email, contact: customer.contact },
    subscription_registration: {
      method: isSetup ? 'card' : 'upi',
      ...(mandateLimit === null ? {} : { max_amount: razorpayAmount(mandateLimit, inr) }),
    },
    expire_by: Math.floor(expiresMs / 1000),
    email_notify: false,
    sms_notify: false,
    notes: notesOf(request.metadata, {
      perennial_token: token,
      perennial_intent: request.intentToken,
      perennial_mode: mode,
    }),
  };
}

function openedLink({ id, status, short_url, expire_by }: RazorpayRegistration): OpenedLink {
  if (status !== 'issued') throw new GatewayOutcomeUnknown(`razorpay's page ${id} has ended already`);
  return { providerId: id, url: short_url, expiresAt: expire_by ? instantOf(expire_by) : null };
}

/** The registration link that has our token; null where none arrived. */
export async function findRegistration(
  client: RazorpayClient,
  { token }: GatewayReference,
): Promise<RazorpayRegistration | null> {
  const answer = await client.get<RazorpayCollection<RazorpayRegistration>>('/invoices', { receipt: token });
  return objectOf(answer, 'list registration links').items.find(({ receipt }) => receipt === token) ?? null;
}

export async function closeRegistration(client: RazorpayClient, id: string): Promise<LinkState> {
  // Refused when it is paid, cancelled or expired; reading tells which.
  await client.post<RazorpayRegistration>(`/invoices/${id}/cancel`);
  return readRegistration(client, id);
}

export async function readRegistration(client: RazorpayClient, id: string): Promise<LinkState> {
  const link = objectOf(await client.get<RazorpayRegistration>(`/invoices/${id}`), `show ${id}`);
  const payments = link.order_id ? await paymentsOfOrder(client, link.order_id) : [];
  const isSetup = noteOf(link.notes, 'perennial_mode') === 'setup';
  const taken = payments.filter(isCaptured);
  if (isSetup) for (const payment of taken) await giveBack(client, payment);
  const [first] = taken;
  const mandate = first ? await mandateOf(client, first) : null;
  const isWaiting = payments.some(isUndecided) || (first !== undefined && mandate?.standing === 'waiting');
  const isPaid = isSetup ? mandate?.standing === 'confirmed' : taken.length > 0;
  return {
    status: isWaiting ? 'processing' : isPaid ? 'paid' : link.status === 'issued' ? 'open' : 'dead',
    providerId: id,
    url: link.short_url,
    expiresAt: link.expire_by ? instantOf(link.expire_by) : null,
    captures: isSetup ? [] : taken.map(captureOf),
    declines: [...payments.flatMap(declineOf), ...(mandate?.declines ?? [])],
    savedMethod: mandate?.method ?? null,
  };
}

/** Gives the rupee of a saved card back, once however often it is asked for. A refusal leaves it where it is: the card is saved all the same. */
async function giveBack(client: RazorpayClient, { id, status, amount_refunded }: RazorpayPayment): Promise<void> {
  if (status === 'refunded' || (amount_refunded ?? 0) > 0) return;
  const key = `${id}-verified`;
  await client.post(`/payments/${id}/refund`, { amount: verification.amount, speed: 'normal', receipt: key }, key);
}

interface Mandate {
  standing: 'waiting' | 'confirmed' | 'refused';
  method: LinkedMethod | null;
  declines: LinkDecline[];
}

/** The mandate that a payment has made; null where it made none. */
async function mandateOf(client: RazorpayClient, payment: RazorpayPayment): Promise<Mandate | null> {
  const { customer_id: customerId, token_id: tokenId } = payment;
  if (!customerId || !tokenId) return null;
  const answer = await client.get<RazorpayToken>(`/customers/${customerId}/tokens/${tokenId}`);
  const token = objectOf(answer, `show the mandate of ${payment.id}`);
  const { status, failure_reason } = token.recurring_details ?? { status: 'rejected', failure_reason: null };
  if (status === 'confirmed') return { standing: 'confirmed', method: methodOf(token, customerId), declines: [] };
  const isWaiting = status === 'initiated' && Date.now() - payment.created_at * 1000 < confirmedWithinMs;
  if (isWaiting) return { standing: 'waiting', method: null, declines: [] };
  const decline: LinkDecline = { chargeProviderId: tokenId, code: failure_reason ?? 'mandate_refused', class: 'never' };
  return { standing: 'refused', method: null, declines: [decline] };
}

function methodOf({ id, method, card, max_amount }: RazorpayToken, customerToken: string): LinkedMethod {
  return {
    token: id,
    customerToken,
    brand: method === 'upi' ? 'UPI' : (card?.network ?? ''),
    lastFour: card?.last4 ?? '',
    maxAmount: max_amount ? amountOfRazorpay(max_amount, inr) : null,
  };
}

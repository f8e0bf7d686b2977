import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { type LinkRequest, type LinkState, neverOpened, type OpenedLink, type PaymentLinks } from '../payment-link.ts';
import { razorpayAmount, refuseTooLittle } from './amount.ts';
import { objectOf, type RazorpayClient, reasonOf } from './client.ts';
import {
  captured,
  captureOf,
  declineOf,
  instantOf,
  isCaptured,
  isTelephone,
  isUndecided,
  notesOf,
  paymentsOfOrder,
  readPayment,
} from './payment.ts';
import {
  closeRegistration,
  findRegistration,
  isRegistration,
  keepsMethod,
  openRegistration,
  readRegistration,
} from './registration.ts';
import type { RazorpayLink, RazorpayPayment } from './shapes.ts';

const minuteMs = 60_000;
/** Razorpay takes 15 minutes after its own creation of the link, and no more than six months. */
const shortestMs = 15 * minuteMs;
const longestMs = 180 * 24 * 60 * minuteMs;
/** Time for the request to arrive, and for clocks that differ. */
const spareMs = 2 * minuteMs;
const longestName = 50;

/** Payment links of Razorpay, and registration links where a method is kept, on its own page. design: money-in-checkout §C razorpay */
export function razorpayLinks(client: RazorpayClient): PaymentLinks {
  return {
    // A reference is taken once, for good.
    resend: { untilMs: Number.POSITIVE_INFINITY },
    minimumLifeMs: shortestMs,
    closable: true,
    open: (request) => open(client, request),
    read: (reference) => read(client, reference),
    close: (reference) => close(client, reference),
  };
}

/** The token is the link's reference, which Razorpay takes once: a refusal may mean that an earlier request arrived. */
async function open(client: RazorpayClient, request: LinkRequest): Promise<OpenedLink> {
  if (keepsMethod(request)) return openRegistration(client, request);
  refuseTooLittle(request.amount, request.currency);
  if (request.payBy === 'UPI' && request.currency.toLowerCase() !== 'inr') throw indianAlone(request.currency);
  const answer = await client.post<RazorpayLink>('/payment_links', linkOf(request));
  if (answer.error === null) return openedLink(answer.object);
  const known = await findByToken(client, request);
  if (known) return openedLink(known);
  throw refuse('validation_error', `razorpay does not open a payment page for this: ${reasonOf(answer.error)}`, {
    fields: { payment_provider: reasonOf(answer.error) },
  });
}

function indianAlone(currency: string) {
  const rule = 'razorpay takes UPI in inr alone';
  return refuse('validation_error', `${currency} cannot be paid by UPI: ${rule}`, { fields: { payment_method: rule } });
}

/** Parameters of a link: cards alone, or UPI alone, so that money is decided at once; no part payments, no messages by Razorpay. design: money-in-checkout §A5, §A7, §B5 */
function linkOf({ amount, currency, token, customer, ...request }: LinkRequest) {
  const isUpi = request.payBy === 'UPI';
  const least = Math.max(Date.parse(request.expiresAt), Date.now() + shortestMs + spareMs);
  const expiresMs = Math.min(least, Date.now() + longestMs);
  return {
    amount: razorpayAmount(amount, currency),
    currency: currency.toUpperCase(),
    accept_partial: false,
    reference_id: token,
    description: request.description,
    expire_by: Math.floor(expiresMs / 1000),
    customer: {
      name: customer.name.slice(0, longestName),
      ...(customer.email === null ? {} : { email: customer.email }),
      ...(isTelephone(customer.contact) ? { contact: customer.contact } : {}),
    },
    notify: { sms: false, email: false },
    reminder_enable: false,
    notes: notesOf(request.metadata, { perennial_token: token, perennial_intent: request.intentToken }),
    callback_url: request.returnUrl,
    callback_method: 'get',
    options: { checkout: { method: { card: !isUpi, netbanking: false, upi: isUpi, wallet: false } } },
  };
}

function openedLink({ id, status, short_url, expire_by }: RazorpayLink): OpenedLink {
  if (status !== 'created') throw new GatewayOutcomeUnknown(`razorpay's page ${id} has ended already`);
  return { providerId: id, url: short_url, expiresAt: instantOf(expire_by) };
}

async function findByToken(client: RazorpayClient, { token }: GatewayReference): Promise<RazorpayLink | null> {
  const answer = await client.get<{ payment_links: RazorpayLink[] }>('/payment_links', { reference_id: token });
  const { payment_links } = objectOf(answer, 'list payment links by reference');
  return payment_links.find(({ reference_id }) => reference_id === token) ?? null;
}

async function close(client: RazorpayClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  if (id === null) return neverOpened;
  if (isRegistration(id)) return closeRegistration(client, id);
  // Refused when it is paid, cancelled or expired; reading tells which.
  await client.post<RazorpayLink>(`/payment_links/${id}/cancel`);
  return read(client, { ...reference, providerId: id });
}

/** The id of a link or registration link; null for one that never arrived. */
async function idOf(client: RazorpayClient, reference: GatewayReference): Promise<string | null> {
  const link = reference.providerId ? null : await findByToken(client, reference);
  return reference.providerId ?? link?.id ?? (await findRegistration(client, reference))?.id ?? null;
}

async function read(client: RazorpayClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  if (id === null) return neverOpened;
  if (isRegistration(id)) return readRegistration(client, id);
  const link = objectOf(await client.get<RazorpayLink>(`/payment_links/${id}`), `show ${id}`);
  return stateOf(link, await paymentsOf(client, link));
}

/** All attempts to pay a link, the first first: those of its order, and whatever else the link itself names. */
async function paymentsOf(client: RazorpayClient, link: RazorpayLink): Promise<RazorpayPayment[]> {
  const all = link.order_id ? await paymentsOfOrder(client, link.order_id) : [];
  const listed = new Set(all.map(({ id }) => id));
  for (const { payment_id } of link.payments ?? []) {
    if (!listed.has(payment_id)) all.push(await captured(client, await readPayment(client, payment_id)));
  }
  return all.toSorted((a, b) => a.created_at - b.created_at);
}

function stateOf(link: RazorpayLink, payments: readonly RazorpayPayment[]): LinkState {
  const taken = payments.filter(isCaptured);
  return {
    status: statusOf(link, { isTaken: taken.length > 0, isWaiting: payments.some(isUndecided) }),
    providerId: link.id,
    url: link.short_url,
    expiresAt: link.expire_by === 0 ? null : instantOf(link.expire_by),
    captures: taken.map(captureOf),
    declines: payments.flatMap(declineOf),
    savedMethod: null,
  };
}

/** Captures and attempts say more than the link: a cancelled one may have been paid, and a paid one may not show its payment yet. */
function statusOf(
  { status }: RazorpayLink,
  { isTaken, isWaiting }: { isTaken: boolean; isWaiting: boolean },
): LinkState['status'] {
  if (isTaken) return 'paid';
  if (isWaiting || status === 'paid') return 'processing';
  return status === 'created' || status === 'partially_paid' ? 'open' : 'dead';
}

import { refuse } from '../../billing/refusal.ts';
import { GatewayOutcomeUnknown, type GatewayReference } from '../payment-gateway.ts';
import {
  type LinkDecline,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfRazorpay, razorpayAmount, refuseTooLittle } from './amount.ts';
import { objectOf, type RazorpayClient, reasonOf } from './client.ts';
import { declineClassOfRazorpay } from './decline.ts';
import type { RazorpayCollection, RazorpayLink, RazorpayPayment } from './shapes.ts';

const minuteMs = 60_000;
/** Razorpay takes 15 minutes after its own creation of the link, and no more than six months. */
const shortestMs = 15 * minuteMs;
const longestMs = 180 * 24 * 60 * minuteMs;
/** Time for the request to arrive, and for clocks that differ. */
const spareMs = 2 * minuteMs;
const longestNote = 255;
const longestName = 50;

/** Payment links of Razorpay, on its own page. design: money-in-checkout §C razorpay */
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
  if (request.mode === 'setup' || request.saveMethod) throw keepsNothing();
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

function keepsNothing() {
  const problem = 'razorpay saves no payment methods: its pages take payments alone';
  return refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
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

/** Our names of an object, kept at it, so that a notification of it finds its way. Razorpay copies a link's notes to its payments. */
export function notesOf(metadata: Record<string, string>, ours: Record<string, string>): Record<string, string> {
  const entries = Object.entries({ ...metadata, ...ours });
  return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestNote)]));
}

/** A number that is none would have the whole link refused, and the page asks for it anyway. */
function isTelephone(contact: string | null): boolean {
  return contact !== null && /^\+?\d{8,14}$/.test(contact);
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
  const id = reference.providerId ?? (await findByToken(client, reference))?.id;
  if (id === undefined) return neverOpened;
  // Refused when it is paid, cancelled or expired; reading tells which.
  await client.post<RazorpayLink>(`/payment_links/${id}/cancel`);
  return read(client, { ...reference, providerId: id });
}

async function read(client: RazorpayClient, reference: GatewayReference): Promise<LinkState> {
  const id = reference.providerId ?? (await findByToken(client, reference))?.id;
  if (id === undefined) return neverOpened;
  const link = objectOf(await client.get<RazorpayLink>(`/payment_links/${id}`), `show ${id}`);
  const payments: RazorpayPayment[] = [];
  for (const payment of await paymentsOf(client, link)) payments.push(await captured(client, payment));
  return stateOf(link, payments);
}

/** All attempts to pay a link, the first first: those of its order, and whatever else the link itself names. */
async function paymentsOf(client: RazorpayClient, link: RazorpayLink): Promise<RazorpayPayment[]> {
  const ofOrder = link.order_id
    ? objectOf(
        await client.get<RazorpayCollection<RazorpayPayment>>(`/orders/${link.order_id}/payments`),
        `list the payments of ${link.order_id}`,
      ).items
    : [];
  const listed = new Set(ofOrder.map(({ id }) => id));
  const all = [...ofOrder];
  for (const { payment_id } of link.payments ?? []) {
    if (!listed.has(payment_id)) all.push(await readPayment(client, payment_id));
  }
  return all.toSorted((a, b) => a.created_at - b.created_at);
}

async function readPayment(client: RazorpayClient, id: string): Promise<RazorpayPayment> {
  return objectOf(await client.get<RazorpayPayment>(`/payments/${id}`), `show ${id}`);
}

/** Money that was only reserved is captured at once. spec: README decision 33 */
async function captured(client: RazorpayClient, payment: RazorpayPayment): Promise<RazorpayPayment> {
  if (payment.status !== 'authorized') return payment;
  const { id, amount, currency } = payment;
  const answer = await client.post<RazorpayPayment>(`/payments/${id}/capture`, { amount, currency });
  // Refused where Razorpay captured it by itself meanwhile.
  return answer.error === null ? answer.object : readPayment(client, id);
}

function stateOf(link: RazorpayLink, payments: readonly RazorpayPayment[]): LinkState {
  const taken = payments.filter(isCaptured);
  const isUndecided = payments.some(({ status }) => status === 'created' || status === 'authorized');
  return {
    status: statusOf(link, { isTaken: taken.length > 0, isUndecided }),
    providerId: link.id,
    url: link.short_url,
    expiresAt: link.expire_by === 0 ? null : instantOf(link.expire_by),
    captures: taken.map(({ id, amount, currency, created_at }) => ({
      chargeProviderId: id,
      amount: amountOfRazorpay(amount, currency),
      currency: currency.toLowerCase(),
      capturedAt: instantOf(created_at),
    })),
    declines: payments.flatMap(declineOf),
    savedMethod: null,
  };
}

/** Money that was captured and went back was captured all the same; what went back uncaptured was not. */
function isCaptured({ status, captured: wasCaptured }: RazorpayPayment): boolean {
  return status === 'captured' || (status === 'refunded' && wasCaptured);
}

/** Captures and attempts say more than the link: a cancelled one may have been paid, and a paid one may not show its payment yet. */
function statusOf(
  { status }: RazorpayLink,
  { isTaken, isUndecided }: { isTaken: boolean; isUndecided: boolean },
): LinkState['status'] {
  if (isTaken) return 'paid';
  if (isUndecided || status === 'paid') return 'processing';
  return status === 'created' || status === 'partially_paid' ? 'open' : 'dead';
}

function declineOf({ id, status, error_reason, error_code }: RazorpayPayment): LinkDecline[] {
  if (status !== 'failed') return [];
  const code = error_reason ?? error_code ?? 'payment_failed';
  return [{ chargeProviderId: id, code, class: declineClassOfRazorpay(code) }];
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

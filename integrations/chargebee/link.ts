import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import {
  type LinkCapture,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfChargebee, chargebeeAmount } from './amount.ts';
import { chargedAlone } from './charge.ts';
import { type ChargebeeClient, listAll, objectOf, resentUntilMs } from './client.ts';
import { declineClassOfChargebee, declineCodeOf, isFailed, isUndecided } from './decline.ts';
import { methodOfPayer } from './saved-method.ts';
import type { ChargebeePage, ChargebeeTransaction } from './shapes.ts';

const minuteMs = 60_000;
const pageLifeMs = 3 * 60 * minuteMs;
/** Grace for clocks that differ, and for a payer who pays in the last second. */
const spareMs = 2 * minuteMs;
const longestDescription = 250;
const longestName = 150;

/**
 * Pages of Chargebee for one payment, or on which a card is saved. They live three hours and nobody can close them, so that an ended session is watched until they are
 * over. Each belongs to a customer at Chargebee of its own, whose id is our token: by it everything is found that was paid on the page, and
 * the payer of one page is not charged by Chargebee for another. design: money-in-checkout §A4, §C chargebee
 */
export function chargebeeLinks(client: ChargebeeClient): PaymentLinks {
  return {
    resend: { untilMs: resentUntilMs },
    minimumLifeMs: pageLifeMs - spareMs,
    closable: false,
    open: (request) => open(client, request),
    read: (reference) => read(client, reference),
    // Nothing ends a page: what is true is read.
    close: (reference) => read(client, reference),
  };
}

async function open(client: ChargebeeClient, request: LinkRequest): Promise<OpenedLink> {
  const isSetup = request.mode === 'setup';
  const minor = isSetup ? 0 : chargebeeAmount(request.amount, request.currency);
  const isForgotten = Date.now() - Date.parse(request.createdAt) >= resentUntilMs;
  const known = isForgotten ? await findByToken(client, request) : null;
  if (known) return openedLink(known);
  await makePayer(client, request);
  const answer = await client.post<{ hosted_page: ChargebeePage }>(
    `/hosted_pages/${isSetup ? 'manage_payment_sources' : 'checkout_one_time_for_items'}`,
    isSetup ? { 'customer[id]': request.token, redirect_url: request.returnUrl } : pageOf(request, minor),
    request.token,
  );
  if (answer.refusal === null) return openedLink(answer.object.hosted_page);
  throw notOpened(answer.refusal.text);
}

function notOpened(reason: string) {
  return refuse('validation_error', `chargebee does not open a payment page for this: ${reason}`, {
    fields: { payment_provider: reason },
  });
}

/** Makes the customer of a page, whom Chargebee does not charge by itself. One that is there was made by an earlier sending. */
async function makePayer(client: ChargebeeClient, { token, customer, metadata }: LinkRequest): Promise<void> {
  const parameters = {
    id: token,
    ...(customer.name === '' ? {} : { first_name: customer.name.slice(0, longestName) }),
    ...(customer.email === null ? {} : { email: customer.email }),
    auto_collection: 'off',
    meta_data: JSON.stringify(metadata),
  };
  const { refusal } = await client.post('/customers', parameters);
  if (refusal !== null && refusal.code !== 'duplicate_entry') throw notOpened(refusal.text);
}

/** Parameters of a page: one charge, to which Chargebee adds no tax. They are the same each time, as an idempotency key demands. */
function pageOf(request: LinkRequest, minor: number) {
  return {
    'customer[id]': request.token,
    currency_code: request.currency.toUpperCase(),
    'charges[amount][0]': String(minor),
    'charges[description][0]': (request.description || 'Payment').slice(0, longestDescription),
    'charges[taxable][0]': 'false',
    redirect_url: request.returnUrl,
    cancel_url: request.returnUrl,
    pass_thru_content: JSON.stringify({
      ...request.metadata,
      perennial_token: request.token,
      ...(request.saveMethod ? { perennial_saves: 'true' } : {}),
    }),
  };
}

function openedLink(page: ChargebeePage): OpenedLink {
  const { id, url, expires_at } = page;
  if (expires_at * 1000 <= Date.now()) throw new GatewayOutcomeUnknown(`chargebee's page ${id} has ended already`);
  return { providerId: id, url, expiresAt: instantOf(expires_at) };
}

/** The page that carries our token, among those that changed since it was asked for: Chargebee does not search by what a page carries. */
async function findByToken(
  client: ChargebeeClient,
  { token, createdAt }: GatewayReference,
): Promise<ChargebeePage | null> {
  const after = Math.floor((Date.parse(createdAt) - spareMs) / 1000);
  const filter = { 'type[is]': 'checkout_one_time', 'updated_at[after]': String(after) };
  const pages = await listAll<{ hosted_page: ChargebeePage }>(client, '/hosted_pages', { filter });
  return pages.find(({ hosted_page }) => namesOf(hosted_page).perennial_token === token)?.hosted_page ?? null;
}

/** Our names of a page, as it carries them. One on which a card is saved alone carries none. */
function namesOf({ pass_thru_content }: ChargebeePage): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(pass_thru_content ?? '') ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function read(client: ChargebeeClient, reference: GatewayReference): Promise<LinkState> {
  const page = await pageByReference(client, reference);
  const payments = await paymentsOf(client, reference);
  const isSetup = page?.type === 'manage_payment_sources';
  if (page === null && payments.length === 0) return neverOpened;
  const keeps = isSetup || (page !== null && namesOf(page).perennial_saves === 'true');
  const savedMethod = keeps ? await methodOfPayer(client, reference.token) : null;
  const state = stateOf(page, payments);
  if (isSetup) return { ...state, status: savedMethod ? 'paid' : isOver(page) ? 'dead' : 'open', savedMethod };
  return { ...state, savedMethod: state.status === 'paid' ? savedMethod : null };
}

async function pageByReference(client: ChargebeeClient, reference: GatewayReference): Promise<ChargebeePage | null> {
  const { providerId } = reference;
  if (providerId === null) return findByToken(client, reference);
  const answer = await client.get<{ hosted_page: ChargebeePage }>(`/hosted_pages/${encodeURIComponent(providerId)}`);
  return objectOf(answer, `show ${providerId}`).hosted_page;
}

/** All attempts to pay on a page, the first first; a card that was kept there is charged later too, which are no payments of the page. */
async function paymentsOf(client: ChargebeeClient, { token }: GatewayReference): Promise<ChargebeeTransaction[]> {
  const filter = { 'customer_id[is]': token, 'type[is]': 'payment' };
  const entries = await listAll<{ transaction: ChargebeeTransaction }>(client, '/transactions', { filter });
  if (entries.length === 0) return [];
  const others = await chargedAlone(client, token);
  return entries
    .map(({ transaction }) => transaction)
    .filter(({ id }) => !others.has(id))
    .toSorted((a, b) => a.date - b.date);
}

function stateOf(page: ChargebeePage | null, payments: readonly ChargebeeTransaction[]): LinkState {
  const captures = payments.filter(({ status }) => status === 'success').map(captureOf);
  return {
    status: captures.length > 0 ? 'paid' : unpaidStatus(page, payments),
    providerId: page?.id ?? null,
    url: page?.url ?? null,
    expiresAt: page ? instantOf(page.expires_at) : null,
    captures,
    declines: payments
      .filter(({ status }) => isFailed(status))
      .map((payment) => {
        const code = declineCodeOf(payment);
        return { chargeProviderId: payment.id, code, class: declineClassOfChargebee(code) };
      }),
    savedMethod: null,
  };
}

function captureOf({ id, amount, currency_code, date }: ChargebeeTransaction): LinkCapture {
  return {
    chargeProviderId: id,
    amount: amountOfChargebee(amount, currency_code),
    currency: currency_code.toLowerCase(),
    capturedAt: instantOf(date),
  };
}

function unpaidStatus(page: ChargebeePage | null, payments: readonly ChargebeeTransaction[]): LinkState['status'] {
  if (payments.some(({ status }) => isUndecided(status))) return 'processing';
  // Payments of a page that is not listed: it is there all the same.
  if (page === null) return 'open';
  if (page.state === 'succeeded' || page.state === 'acknowledged') {
    return cameToNothing(page, payments) ? 'dead' : 'processing';
  }
  // A payer who went back may come again: only its time ends a page for certain.
  return isOver(page) ? 'dead' : 'open';
}

/** Whether everything that a page succeeded with has failed since. A payment that is not listed yet has not. */
function cameToNothing({ content }: ChargebeePage, payments: readonly ChargebeeTransaction[]): boolean {
  const linked = content?.invoice?.linked_payments ?? [];
  const hasFailed = (id: string) => payments.some((payment) => payment.id === id && isFailed(payment.status));
  return linked.length > 0 && linked.every(({ txn_id }) => hasFailed(txn_id));
}

function isOver({ expires_at }: ChargebeePage): boolean {
  return expires_at * 1000 + spareMs <= Date.now();
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

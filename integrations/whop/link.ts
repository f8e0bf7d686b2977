import { refuse } from '../../billing/refusal.ts';
import { GatewayOutcomeUnknown, type GatewayReference } from '../payment-gateway.ts';
import {
  type LinkCapture,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfWhop, whopAmount } from './amount.ts';
import { listAll, objectOf, type WhopAnswer, type WhopClient } from './client.ts';
import { declineOfWhop } from './decline.ts';
import type { WhopConfiguration, WhopPayment, WhopPlan } from './shapes.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Whop names no end of a page: one that cannot be closed is watched for so long. */
const watchedMs = 30 * dayMs;
/** Time that a payer has to finish an attempt; one that is older was given up. */
const confirmationMs = 30 * minuteMs;
/** Clocks that differ. */
const spareMs = 60 * minuteMs;
const longestTitle = 30;

/**
 * Checkout configurations of Whop, each over a plan of its own that has one unit to sell. Both are made under our token as idempotency
 * key, which Whop keeps for 24 hours. design: money-in-checkout §C whop
 */
export function whopLinks(client: WhopClient): PaymentLinks {
  return {
    resend: { untilMs: 23 * 60 * minuteMs },
    minimumLifeMs: 0,
    closable: true,
    open: (request) => open(client, request),
    read: (reference) => read(client, reference),
    close: (reference) => close(client, reference),
  };
}

async function open(client: WhopClient, request: LinkRequest): Promise<OpenedLink> {
  if (request.mode === 'setup' || request.saveMethod) {
    const problem = 'whop saves no payment methods here: its pages take payments alone';
    throw refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
  }
  const { token, returnUrl } = request;
  const plan = await made(client, request, client.post<WhopPlan>('/plans', planOf(client, request), `${token}-plan`));
  if (plan.known) return openedLink(plan.known);
  const asked = {
    account_id: client.companyId,
    plan_id: plan.object.id,
    mode: 'payment',
    redirect_url: returnUrl,
    metadata: marksOf(request),
  };
  const page = await made(client, request, client.post<WhopConfiguration>('/checkout_configurations', asked, token));
  if (page.known) return openedLink(page.known);
  // The page that a repeated key answers may have been closed since.
  const now = await readConfiguration(client, page.object.id);
  if (now === null) throw new GatewayOutcomeUnknown(`whop's page ${page.object.id} has ended already`);
  return openedLink(now);
}

/** Our names of an object, kept at it; Whop copies those of a configuration to its payments. The currency tells what was asked for. */
function marksOf({ metadata, token, intentToken, currency }: LinkRequest) {
  return {
    ...metadata,
    perennial_token: token,
    perennial_intent: intentToken.slice(0, 500),
    perennial_currency: currency.toLowerCase(),
  };
}

/** One unit for sale, by card alone, in the currency that was asked for. design: money-in-checkout §A5, §A7, §A8 */
function planOf({ companyId, productId }: WhopClient, request: LinkRequest) {
  const { amount, currency, description } = request;
  return {
    account_id: companyId,
    ...(productId === null ? {} : { product_id: productId }),
    plan_type: 'one_time',
    release_method: 'buy_now',
    visibility: 'hidden',
    title: (description || 'Payment').slice(0, longestTitle),
    currency: currency.toLowerCase(),
    initial_price: whopAmount(amount, currency),
    stock: 1,
    unlimited_stock: false,
    adaptive_pricing_enabled: false,
    payment_method_configuration: { enabled: ['card'], disabled: [], include_platform_defaults: false },
    metadata: marksOf(request),
  };
}

type Made<T> = { object: T; known: null } | { object: null; known: WhopConfiguration };

/** Object just made, or the page of an earlier request where the key was used for other parameters. Throws Whop's refusal. */
async function made<T>(client: WhopClient, request: LinkRequest, sent: Promise<WhopAnswer<T>>): Promise<Made<T>> {
  const answer = await sent;
  if (answer.refusal === null) return { object: answer.object, known: null };
  if (answer.refusal === 'idempotency_key_mismatch') {
    const known = await findByToken(client, request);
    if (known) return { object: null, known };
    throw new GatewayOutcomeUnknown('whop knows the page by its token and does not list it');
  }
  throw refuse('validation_error', `whop does not open a payment page for this: ${answer.refusal}`, {
    fields: { payment_provider: answer.refusal },
  });
}

function openedLink({ id, purchase_url, created_at }: WhopConfiguration): OpenedLink {
  if (!purchase_url) throw new GatewayOutcomeUnknown(`whop names no address of the page ${id}`);
  return { providerId: id, url: purchase_url, expiresAt: new Date(Date.parse(created_at) + watchedMs).toISOString() };
}

/** The configuration of an id; null for one that was deleted. One of another account answers for nothing. design: money-in-checkout §A1 */
async function readConfiguration(client: WhopClient, id: string): Promise<WhopConfiguration | null> {
  const answer = await client.get<WhopConfiguration>(`/checkout_configurations/${encodeURIComponent(id)}`);
  if (answer.status === 404) return null;
  const configuration = objectOf(answer, `show ${id}`);
  if (configuration.account_id === client.companyId) return configuration;
  throw new GatewayOutcomeUnknown(`whop's page ${id} is of another account`);
}

/** The first configuration that carries our token. */
async function findByToken(client: WhopClient, { token, createdAt }: GatewayReference) {
  const after = Math.floor((Date.parse(createdAt) - spareMs) / 1000);
  const query = { account_id: client.companyId, created_after: String(after) };
  const listed = await listAll<WhopConfiguration>(client, '/checkout_configurations', query);
  const ours = listed.filter(({ metadata }) => metadata?.perennial_token === token);
  return ours.toSorted((a, b) => a.created_at.localeCompare(b.created_at))[0] ?? null;
}

async function idOf(client: WhopClient, reference: GatewayReference): Promise<string | null> {
  return reference.providerId ?? (await findByToken(client, reference))?.id ?? null;
}

async function read(client: WhopClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  return id === null ? neverOpened : (await readById(client, id)).state;
}

async function readById(client: WhopClient, id: string) {
  const configuration = await readConfiguration(client, id);
  const planId = configuration?.plan?.id ?? null;
  const payments = await paymentsOf(client, id, planId);
  return { planId, state: await stateOf(client, id, configuration, payments) };
}

/** All attempts to pay a page, the first first: those of its configuration, and those by the address of its plan. */
async function paymentsOf(client: WhopClient, id: string, planId: string | null): Promise<WhopPayment[]> {
  const company = { company_id: client.companyId };
  const lists = [await listAll<WhopPayment>(client, '/payments', { ...company, checkout_configuration_ids: [id] })];
  if (planId !== null) lists.push(await listAll<WhopPayment>(client, '/payments', { ...company, plan_ids: [planId] }));
  // Whether a list was narrowed down is Whop's word; what a payment is for, the payment's own.
  const ours = lists
    .flat()
    .filter((each) => each.checkout_configuration_id === id || (planId !== null && each.plan?.id === planId));
  const byId = new Map(ours.map((payment) => [payment.id, payment]));
  return [...byId.values()].toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

/**
 * Takes the plan's last unit off sale, deletes the configuration and reads it again, whatever that was answered: a refusal says that it has
 * ended, not how. One with an attempt under way is closed too, so that there is no other attempt, and stays `processing` until that one
 * is decided.
 */
async function close(client: WhopClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  if (id === null) return neverOpened;
  const { planId, state: before } = await readById(client, id);
  if (before.status === 'paid' || before.status === 'dead') return before;
  // Its plan has an address of its own.
  if (planId !== null) await client.patch(`/plans/${encodeURIComponent(planId)}`, { stock: 0, unlimited_stock: false });
  await client.delete(`/checkout_configurations/${encodeURIComponent(id)}`);
  return (await readById(client, id)).state;
}

async function stateOf(
  client: WhopClient,
  id: string,
  configuration: WhopConfiguration | null,
  payments: readonly WhopPayment[],
): Promise<LinkState> {
  const captures: LinkCapture[] = [];
  for (const payment of payments.filter(isCaptured)) captures.push(await captureOf(client, payment));
  const isWaiting = payments.some(isUndecided);
  return {
    status: captures.length > 0 ? 'paid' : isWaiting ? 'processing' : configuration === null ? 'dead' : 'open',
    providerId: id,
    url: configuration?.purchase_url ?? null,
    expiresAt: null,
    captures,
    declines: payments
      .filter(isDeclined)
      .map((payment) => ({ chargeProviderId: payment.id, ...declineOfWhop(payment) })),
    savedMethod: null,
  };
}

/** Amount charged to the payer; absent in lists. */
async function captureOf(client: WhopClient, { id, ...listed }: WhopPayment): Promise<LinkCapture> {
  const payment = await readPayment(client, id);
  if (payment.settlement_amount === undefined) throw new GatewayOutcomeUnknown(`whop does not say how much ${id} took`);
  return {
    chargeProviderId: id,
    amount: amountOfWhop(payment.settlement_amount),
    currency: chargedCurrency(payment),
    capturedAt: instantOf(payment.paid_at ?? listed.created_at),
  };
}

/** The payment of an id. Throws `GatewayOutcomeUnknown` for one that the account does not have. */
export async function readPayment(client: WhopClient, id: string): Promise<WhopPayment> {
  return objectOf(await client.get<WhopPayment>(`/payments/${encodeURIComponent(id)}`), `show ${id}`);
}

/**
 * Currency that a payer was charged in. A payment names two; where they differ, and adaptive pricing was at work although it is switched off, the
 * one that was not asked for counts, so that such a payment is never taken for the order's. design: money-in-checkout §A7
 */
export function chargedCurrency({ currency, settlement_currency, metadata }: WhopPayment): string {
  const asked = metadata?.perennial_currency ?? currency.toLowerCase();
  const charged = [settlement_currency, currency].map((each) => each.toLowerCase());
  return charged.find((each) => each !== asked) ?? currency.toLowerCase();
}

/** Money that was collected, and went back or is disputed, was collected all the same. */
export function isCaptured({ status, paid_at }: WhopPayment): boolean {
  return status === 'paid' || paid_at !== null;
}

/** Waits for its bank or for another try of Whop's, or for its payer, who has half an hour. */
function isUndecided(payment: WhopPayment): boolean {
  const { status, created_at, next_payment_attempt } = payment;
  if (isCaptured(payment) || isDeclined(payment) || status === 'void' || status === 'uncollectible') return false;
  if (status === 'pending' || status === 'unresolved' || next_payment_attempt !== null) return true;
  return Date.now() - Date.parse(instantOf(created_at)) < confirmationMs;
}

/** An attempt that failed, and that Whop does not try again by itself. */
export function isDeclined(payment: WhopPayment): boolean {
  const { status, substatus, next_payment_attempt } = payment;
  if (isCaptured(payment) || next_payment_attempt !== null) return false;
  return status === 'open' && ['failed', 'price_too_low', 'canceled'].includes(substatus);
}

/** An instant of Whop: ISO 8601, or the seconds of Unix as its pages also say. */
export function instantOf(value: string | number): string {
  return new Date(typeof value === 'number' || /^\d+$/.test(value) ? Number(value) * 1000 : value).toISOString();
}

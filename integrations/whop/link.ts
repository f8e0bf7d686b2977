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
import { listAll, objectOf, type WhopAnswer, type WhopClient } from './client.ts';
import { declineOfWhop } from './decline.ts';
import { captureOf, isCaptured, isDeclined, isUndecided } from './payment.ts';
import { cardAlone, marksOf, planOf } from './plan.ts';
import { asFailure, isRefused, isUnderWay, methodOfPayment, methodOfSetup, setupsOf } from './saved-method.ts';
import type { WhopConfiguration, WhopPayment, WhopPlan, WhopSetup } from './shapes.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Whop names no end of a page: one that cannot be closed is watched for so long. */
const watchedMs = 30 * dayMs;
/** Clocks that differ. */
const spareMs = 60 * minuteMs;

/**
 * Checkout configurations of Whop, each over a plan of its own that has one unit to sell, or without one where a card is saved alone. Both are
 * made under our token as idempotency key, which Whop keeps for 24 hours. design: money-in-checkout §C whop
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
  const { token, returnUrl, mode, saveMethod } = request;
  const metadata = { ...marksOf(request), ...(saveMethod ? { perennial_saves: 'true' } : {}) };
  const page = { account_id: client.companyId, mode, redirect_url: returnUrl, metadata };
  let over: object = { payment_method_configuration: cardAlone };
  if (mode === 'payment') {
    const asked = planOf(client, request, metadata);
    const plan = await made(client, request, client.post<WhopPlan>('/plans', asked, `${token}-plan`));
    if (plan.known) return openedLink(plan.known);
    over = { plan_id: plan.object.id };
  }
  const sent = client.post<WhopConfiguration>('/checkout_configurations', { ...page, ...over }, token);
  const opened = await made(client, request, sent);
  if (opened.known) return openedLink(opened.known);
  // The page that a repeated key answers may have been closed since.
  const now = await readConfiguration(client, opened.object.id);
  if (now === null) throw new GatewayOutcomeUnknown(`whop's page ${opened.object.id} has ended already`);
  return openedLink(now);
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
  return id === null ? neverOpened : (await readById(client, id, reference)).state;
}

async function readById(client: WhopClient, id: string, { createdAt }: GatewayReference) {
  const configuration = await readConfiguration(client, id);
  const planId = configuration?.plan?.id ?? null;
  const payments = configuration?.mode === 'setup' ? [] : await paymentsOf(client, id, planId);
  // Nothing tells what a page that is gone was for.
  const sinceMs = Date.parse(createdAt) - spareMs;
  const setups = configuration?.mode === 'payment' ? [] : await setupsOf(client, id, sinceMs);
  return { planId, state: await stateOf(client, { id, configuration, payments, setups }) };
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
  const { planId, state: before } = await readById(client, id, reference);
  if (before.status === 'paid' || before.status === 'dead') return before;
  // Its plan has an address of its own.
  if (planId !== null) await client.patch(`/plans/${encodeURIComponent(planId)}`, { stock: 0, unlimited_stock: false });
  await client.delete(`/checkout_configurations/${encodeURIComponent(id)}`);
  return (await readById(client, id, reference)).state;
}

interface Read {
  id: string;
  configuration: WhopConfiguration | null;
  payments: readonly WhopPayment[];
  setups: readonly WhopSetup[];
}

async function stateOf(client: WhopClient, { id, configuration, payments, setups }: Read): Promise<LinkState> {
  const captures: LinkCapture[] = [];
  for (const payment of payments.filter(isCaptured)) captures.push(await captureOf(client, payment));
  const first = payments.find(isCaptured);
  const saved = setups.find(({ status }) => status === 'succeeded');
  const isWaiting = payments.some(isUndecided) || setups.some(isUnderWay);
  return {
    status: first || saved ? 'paid' : isWaiting ? 'processing' : configuration === null ? 'dead' : 'open',
    providerId: id,
    url: configuration?.purchase_url ?? null,
    expiresAt: null,
    captures,
    declines: [...payments.filter(isDeclined), ...setups.filter(isRefused).map(asFailure)].map((each) => ({
      chargeProviderId: each.id,
      ...declineOfWhop(each),
    })),
    savedMethod: saved ? methodOfSetup(saved) : first ? await methodOfPayment(client, first) : null,
  };
}

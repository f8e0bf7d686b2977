import type { FastifyRequest } from 'fastify';
import { isAskedLately, isCheckoutActive } from '../../billing/payment/checkout.ts';
import { refusalIn, refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import type { CheckoutSession } from '../../db/entities/payment/checkout-session.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { linkedProviders } from '../../services/integration/connection.ts';
import type { CheckoutRequest } from '../../services/payment/checkout/checkout-insert.ts';
import { findCheckout } from '../../services/payment/checkout/checkout-read.ts';
import type { Command } from '../../workflows/lifecycle.messages.ts';
import {
  type CheckoutChanged,
  cancelCheckout,
  openCheckout,
  refreshCheckout,
} from '../../workflows/payment/checkout-session.messages.ts';
import { callerOf, updateObject, updateRunning } from '../lifecycle.ts';
import { type CheckoutInput, viewCheckout, viewCheckoutRead } from './checkout.schema.ts';
import { checkoutToken, storedCheckoutToken } from './checkout-token.ts';

/** A request of a caller or of a payer that opens a session. */
export type SessionOpener = Pick<
  FastifyRequest,
  'server' | 'temporal' | 'scope' | 'transaction' | 'newId' | 'protocol' | 'host'
>;

type Asker = Pick<FastifyRequest, 'server' | 'temporal' | 'scope' | 'transaction'>;

/** Where `/checkout/<token>` is reached: the name under which the API was asked. */
export const checkoutPath = '/checkout';

/**
 * A session as its store opens it. Refuses (invalid_operation) a provider that is not connected or opens no payment pages, and one that keeps
 * no methods where one is to be kept.
 * The payer's method is kept where what is bought is charged again; where the provider's page keeps none of what it is paid with, there has to be
 * one. spec: wallets-and-payments §1.4, §3 row 32; design: money-in-checkout §B12
 */
export async function checkoutRequestOf(
  request: SessionOpener,
  input: CheckoutInput,
  savesMethod: 'never' | 'if_automatic' | 'always' | 'alone' = 'never',
): Promise<CheckoutRequest> {
  const { gateways, config } = request.server.dependencies;
  const provider = input.payment_provider;
  await refuseUnable(request, provider);
  const wanted = input.payment_provider_config ?? {};
  const isAutomatic = wanted.collection_method === 'charge_automatically';
  const isKept = savesMethod === 'always' || savesMethod === 'alone' || (isAutomatic && savesMethod === 'if_automatic');
  if (isKept) refuseForgetful(request, provider);
  const payBy = wanted.payment_method ?? 'CARD';
  const keepsPaid = request.server.dependencies.providers?.get(provider)?.keepsPaid?.includes(payBy) ?? true;
  const pageKeeps = savesMethod === 'alone' || keepsPaid;
  const sessionId = request.newId('cs');
  return {
    sessionId,
    provider,
    isConnected: !gateways.has(provider),
    providerConfig: {
      collection_method: wanted.collection_method ?? 'send_invoice',
      payment_method: payBy,
      ...(wanted.max_mandate_limit ? { max_mandate_limit: wanted.max_mandate_limit } : {}),
      ...(isKept && pageKeeps ? { save_method: 'true' } : {}),
    },
    needsSavedMethod: isKept && !pageKeeps,
    successUrl: input.success_url ?? null,
    failureUrl: input.failure_url ?? null,
    cancelUrl: input.cancel_url ?? null,
    idempotencyKey: input.idempotency_key ?? null,
    metadata: input.metadata ?? {},
    pageToken: checkoutToken(config, sessionId),
    baseUrl: `${request.protocol}://${request.host}`,
    urlOf: (session) => pageUrlOf(request, session),
  };
}

/** Names of the providers that open payment pages: those that need no connection, and those that are connected. */
export async function pageProviders({ server, transaction }: Pick<SessionOpener, 'server' | 'transaction'>) {
  const { gateways, providers } = server.dependencies;
  const connected = await transaction(linkedProviders);
  return {
    builtIn: [...gateways.values()].filter((gateway) => gateway.links).map((gateway) => gateway.name),
    connected: connected.filter((name) => providers?.get(name)?.links),
  };
}

/**
 * Provider of a page for which none is named: the only connected one, else the only one that needs no connection. Throws
 * `validation_error` that names them where there are several.
 */
export async function onlyPageProvider(request: Pick<SessionOpener, 'server' | 'transaction'>): Promise<string> {
  const { builtIn, connected } = await pageProviders(request);
  const [only, ...others] = connected.length > 0 ? connected : builtIn;
  if (only !== undefined && others.length === 0) return only;
  throw badField('payment_provider', `is required; ${[...builtIn, ...connected].join(', ') || 'none'} can open a page`);
}

async function refuseUnable(request: Pick<SessionOpener, 'server' | 'transaction'>, provider: string): Promise<void> {
  if (request.server.dependencies.gateways.get(provider)?.links) return;
  const { builtIn, connected } = await pageProviders(request);
  const able = [...builtIn, ...connected];
  if (able.includes(provider)) return;
  const problem = `${provider} is not connected or opens no payment pages; ${able.join(', ') || 'none'} can`;
  throw refuse('invalid_operation', `payment_provider ${problem}`, { fields: { payment_provider: problem } });
}

/** Refuses a provider whose pages take payments and keep no method. */
function refuseForgetful({ server }: Pick<SessionOpener, 'server'>, provider: string): void {
  if (server.dependencies.providers?.get(provider)?.savesMethods !== false) return;
  const problem = `${provider} saves no payment methods, so that nothing can be charged there automatically`;
  throw refuse('invalid_operation', `payment_provider ${problem}; choose send_invoice or another provider`, {
    fields: { payment_provider: problem },
  });
}

/** Has a drafted session opened at its provider; answers when that did. Throws its refusal, or `service_unavailable`. */
export async function openAtProvider(
  request: Asker,
  sessionId: string,
  owner: { customerId: string; testClockId: string | null; at: string },
): Promise<void> {
  const object = { kind: 'checkout_session', id: sessionId, ...owner, creating: true } as const;
  await updateObject(request, object, openCheckout, {});
}

/** A session as the answer of the operation that opened it carries it. */
export async function viewOpened(request: Asker, tx: Transaction, sessionId: string) {
  const row = await findCheckout(tx, sessionId);
  return viewCheckout(row, pageUrlOf(request, row));
}

/** A session with what a poller needs; an active one is asked about at its provider first. spec: wallets-and-payments §2.17 Read and poll */
export async function readCheckout(request: Asker, sessionId: string) {
  const before = await request.transaction((tx) => findCheckout(tx, sessionId));
  const isConfirmed = isCheckoutActive(before.checkoutStatus) && (await isAnswered(request, before));
  return viewRead(request, sessionId, isConfirmed);
}

/** Cancels a session and answers it as a read does. Throws `invalid_operation` for a completed one. */
export async function cancelAtWorkflow(request: Asker, sessionId: string) {
  const row = await request.transaction((tx) => findCheckout(tx, sessionId));
  const answer = await request.transaction(async (tx) => {
    const { id, customerId, testClockId } = row;
    return { id, customerId, testClockId: testClockId ?? null, at: await customerNow(tx, customerId) };
  });
  if (row.checkoutStatus === 'completed' || isCheckoutActive(row.checkoutStatus)) {
    await updateObject(request, { kind: 'checkout_session', ...answer }, cancelCheckout, {});
  }
  return viewRead(request, sessionId, true);
}

/** Has the provider asked now. False when it did not answer, and when it was asked lately. */
async function isAnswered(request: Asker, row: CheckoutSession): Promise<boolean> {
  const at = await request.transaction((tx) => customerNow(tx, row.customerId));
  const isLocal = request.server.dependencies.gateways.has(row.paymentProvider);
  if (!isLocal && isAskedLately(row.askedAt ?? null, at)) return false;
  const args: [Command] = [{ caller: callerOf(request.scope), at }];
  const object = { kind: 'checkout_session', id: row.id } as const;
  try {
    const told = await updateRunning<CheckoutChanged>(request.temporal, object, (workflow) =>
      workflow.executeUpdate(refreshCheckout, { args }),
    );
    return told?.isAnswered ?? false;
  } catch {
    // A read never fails because of its provider, nor because its workflow is away.
    return false;
  }
}

async function viewRead(request: Asker, sessionId: string, isConfirmed: boolean) {
  return request.transaction(async (tx) => {
    const row = await findCheckout(tx, sessionId);
    const [payment] = await tx.rows<{ id: string; status: string; gateway: string | null }>(
      'select id, payment_status as status, payment_gateway as gateway from payment where environment_id = $1 and id = $2',
      [tx.scope.environmentId, row.checkoutPaymentId],
    );
    const now = await customerNow(tx, row.customerId);
    return viewCheckoutRead(row, { url: pageUrlOf(request, row), now, isConfirmed, payment: payment ?? null });
  });
}

/** The address at which a session is paid: its provider's, else our own page; null once no key tells its token. */
export function pageUrlOf(
  { server }: Pick<FastifyRequest, 'server'>,
  session: { id: string; tokenHash: string; baseUrl: string; providerUrl?: string | null | undefined },
): string | null {
  if (session.providerUrl) return session.providerUrl;
  const token = storedCheckoutToken(server.dependencies.config, session.id, session.tokenHash);
  return token === null ? null : `${session.baseUrl}${checkoutPath}/${token}`;
}

/** Id of the session that is open for the same subject, where that is why another was refused; null for every other error. */
export function runningSessionOf(error: unknown): string | null {
  const refusal = refusalIn(error);
  if (refusal?.code !== 'already_exists') return null;
  const { checkout_session } = (refusal.details ?? {}) as { checkout_session?: { id?: unknown } };
  return typeof checkout_session?.id === 'string' ? checkout_session.id : null;
}

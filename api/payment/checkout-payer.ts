import { timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { askAgainAfterMs, isCheckoutActive } from '../../billing/payment/checkout.ts';
import { refusalIn } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import type { CheckoutLanguage, CheckoutProblem, CheckoutSeller } from '../../integrations/checkout-page/view.ts';
import type { AttemptUnderWay } from '../../integrations/payment-gateway.ts';
import type { ProviderPageWay } from '../../integrations/provider-adapter.ts';
import { readSeller } from '../../services/invoice/document/invoice-page.ts';
import { noteMethodToken } from '../../services/payment/checkout/checkout-method-token.ts';
import { type CheckoutPage, readCheckoutPage } from '../../services/payment/checkout/checkout-page.ts';
import { checkoutOfToken, findCheckout, runningCheckoutOf } from '../../services/payment/checkout/checkout-read.ts';
import { hashOfToken } from '../../services/payment/checkout/checkout-token.ts';
import { pageWayOf } from './checkout-page-way.ts';
import { checkoutFormToken, storedCheckoutToken } from './checkout-token.ts';
import { type CheckoutOccasion, checkoutSeller, stateOf } from './checkout-view.ts';
import { cancelAtWorkflow, checkoutPath, readCheckout } from './checkout-workflow.ts';
import { openInvoicePage } from './payment-link.ts';

const readableAfterEndMs = 24 * 60 * 60_000;

/** A session behind the token of its page, and on whose behalf its payer asks. */
export interface OpenedPage {
  page: CheckoutPage;
  seller: CheckoutSeller;
  underWay: AttemptUnderWay | null;
  /** The part of a provider that has no page of its own for it. */
  pageWay: ProviderPageWay | null;
  asker: Parameters<typeof readCheckout>[0];
  /** Path of the page. */
  address: string;
  formToken: string;
}

/** Fields of a form, as a browser sends them. */
export type FormFields = Record<string, string>;

/** The page behind a token; null for a token that opens nothing, or nothing any more. design: money-in-checkout §B14 */
export async function openPage(request: FastifyRequest, token: string): Promise<OpenedPage | null> {
  const { server } = request;
  const { config, database, gateways, temporal } = server.dependencies;
  const owner = await inSqlTransaction(database, systemScope, (tx) => checkoutOfToken(tx, hashOfToken(token)));
  if (!owner) return null;
  const { tenantId, environmentId } = owner;
  const scope = { tenantId, environmentId, actor: 'payer', requestId: request.id };
  const transaction = <T>(work: (tx: Transaction) => Promise<T>) => inTransaction(database, scope, work);
  const found = await transaction(async (tx) => {
    const page = await readCheckoutPage(tx, owner.id);
    if (page === null) return null;
    const seller = checkoutSeller(page.invoice ?? (await readSeller(tx)));
    const pageWay = isCheckoutActive(page.checkoutStatus) ? await pageWayOf(server.dependencies, tx, page) : null;
    return { page, seller, pageWay };
  });
  if (!found || (isOver(found.page) && found.page.payableInvoiceId === null)) return null;
  const isActive = isCheckoutActive(found.page.checkoutStatus);
  const payer = gateways.get(found.page.paymentProvider)?.payer;
  return {
    ...found,
    underWay: (isActive && (await payer?.underWay(found.page.intentToken))) || null,
    asker: { server, temporal, scope, transaction },
    address: `${checkoutPath}/${token}`,
    formToken: checkoutFormToken(config, token),
  };
}

function isOver({ endedAt, now }: CheckoutPage): boolean {
  return endedAt !== null && Date.parse(now) - Date.parse(endedAt) > readableAfterEndMs;
}

/** The page as it is after its provider was asked once more. */
export async function askedPage(request: FastifyRequest, token: string, before: OpenedPage): Promise<OpenedPage> {
  await readCheckout(before.asker, before.page.id).catch(() => undefined);
  return (await openPage(request, token)) ?? before;
}

/**
 * The page of a payer who comes back, which goes on to the seller with what is true: where the provider was asked too lately to be asked
 * again, that moment is waited for. design: money-in-checkout §B13
 */
export async function returnedPage(request: FastifyRequest, token: string, before: OpenedPage): Promise<OpenedPage> {
  const read = await readCheckout(before.asker, before.page.id).catch(() => null);
  if (read?.terminal || !read?.stale) return (await openPage(request, token)) ?? before;
  await delay(askAgainAfterMs);
  return askedPage(request, token, before);
}

/** Everything a page's view needs beside its session. */
export function occasionOf(
  { address, formToken, seller, underWay, pageWay }: OpenedPage,
  told: { language: CheckoutLanguage; problem?: CheckoutProblem | null; hasReturned?: boolean },
): CheckoutOccasion {
  const { language, problem = null, hasReturned = false } = told;
  return { language, address, formToken, seller, underWay, pageWay, problem, hasReturned };
}

/** State of a page, for those who wait for it. A payer who came back unpaid is shown the way to pay again. */
export function progressOf(opened: OpenedPage) {
  const state = stateOf(opened.page, occasionOf(opened, { language: 'en' }));
  return { state: state.kind, next_poll_after_ms: state.kind === 'waiting' ? state.nextPollAfterMs : 0 };
}

/** Whether a form was sent by the page itself. */
export function isOwnForm({ formToken }: OpenedPage, fields: FormFields): boolean {
  const [one, other] = [Buffer.from(fields.form_token ?? ''), Buffer.from(formToken)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Does what a form of the page asks; answers why nothing came of it, or null. One attempt is under way at a time: the gateway refuses a
 * second one, whose payer is shown how the first stands. design: money-in-checkout §A8
 */
export async function performForm(
  { page, asker, underWay }: OpenedPage,
  action: 'pay' | 'confirm' | 'cancel',
  fields: FormFields,
): Promise<CheckoutProblem | null> {
  const payer = asker.server.dependencies.gateways.get(page.paymentProvider)?.payer;
  if (!isCheckoutActive(page.checkoutStatus)) return null;
  if (action === 'cancel') {
    await cancelAtWorkflow(asker, page.id).catch(ignoreRefusal);
    return null;
  }
  if (!payer) return null;
  if (action === 'confirm') {
    if (underWay?.status !== 'requires_action') return null;
    await payer.play(underWay.attemptToken, fields.answer === 'confirm' ? 'confirm' : 'fail');
  } else {
    const cardNumber = digitsOf(fields.test_card || fields.card_number || '');
    const attempt = await payer.payLink(page.intentToken, { cardNumber }).catch(ignoreRefusal);
    if (attempt === null) return 'card_number';
    if (attempt.status === 'requires_action') return null;
    // A page in setup mode has no payment whose attempts would tell it.
    if (attempt.status === 'declined' && page.paymentId === null) return 'unsaved';
  }
  await readCheckout(asker, page.id);
  return null;
}

/** Form of the tokens that stand for saved cards; it has no number of a card. */
const cardToken = /^token_[\w-]{1,200}$/;

/**
 * Notes the card that a payer's browser had the provider keep, by its token, on a page that takes cards itself. False for a token that is none,
 * a page that takes no card or none any more, and one that has taken as many as it may. design: money-in-checkout §C moyasar
 */
export async function noteKeptCard({ page, asker, pageWay }: OpenedPage, fields: FormFields): Promise<boolean> {
  const { method_token: methodToken = '' } = fields;
  if (pageWay?.kind !== 'card_form' || !cardToken.test(methodToken)) return false;
  return asker.transaction((tx) => noteMethodToken(tx, { sessionId: page.id, methodToken, at: page.now }));
}

/**
 * Opens a new page for what remains of an invoice whose page has ended; answers its path, that of the running one where there is one, and
 * null where nothing can be paid. design: money-in-checkout §A9
 */
export async function openAgain(request: FastifyRequest, { page, asker }: OpenedPage): Promise<string | null> {
  const { payableInvoiceId: invoiceId, paymentProvider, successUrl, failureUrl, cancelUrl } = page;
  if (invoiceId === null) return null;
  const { protocol, host } = request;
  const urls = { success_url: successUrl, failure_url: failureUrl, cancel_url: cancelUrl };
  const opener = { ...asker, protocol, host, newId: (prefix: string) => newId(prefix) };
  const opened = await openInvoicePage(opener, invoiceId, { payment_provider: paymentProvider, ...urls }).catch(
    ignoreRefusal,
  );
  const running = await asker.transaction((tx) =>
    opened ? findCheckout(tx, opened.sessionId) : runningCheckoutOf(tx, invoiceId),
  );
  const token = running && storedCheckoutToken(asker.server.dependencies.config, running.id, running.tokenHash);
  return token ? `${checkoutPath}/${token}` : null;
}

/** Digits of a card as a payer writes them, also in Arabic and Persian. */
function digitsOf(text: string): string {
  return text
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replaceAll(/\D/g, '');
}

function ignoreRefusal(error: unknown): null {
  if (refusalIn(error)) return null;
  throw error;
}

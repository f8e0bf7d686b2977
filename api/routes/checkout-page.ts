import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isCheckoutActive } from '../../billing/checkout.ts';
import { refusalIn } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { systemScope } from '../../db/scope.ts';
import { hashOfToken } from '../../db/stores/checkout/checkout-insert.ts';
import { type CheckoutPage, readCheckoutPage } from '../../db/stores/checkout/checkout-page.ts';
import { checkoutOfToken } from '../../db/stores/checkout/checkout-read.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import type { Api } from '../app.ts';
import { pagePolicy, renderCheckoutPage, renderNoPage } from '../checkout-page.ts';
import { checkoutFormToken } from '../checkout-token.ts';
import { cancelAtWorkflow, checkoutPath, readCheckout } from '../checkout-workflow.ts';

const maxLength = 64;
const params = z.object({ token: z.string().max(maxLength) });
const hidden = { schema: { hide: true, params } } as const;
const readableAfterEndMs = 24 * 60 * 60_000;

/** A session behind the token of its page, and on whose behalf its payer asks. */
interface Opened {
  page: CheckoutPage;
  asker: Parameters<typeof readCheckout>[0];
  address: string;
}

type Fields = Record<string, string>;

/** Payment pages: the token is all that is needed. They work without script. spec: wallets-and-payments §2.17; design: money-in-checkout §B13, §B14 */
export async function checkoutPageRoutes(app: Api): Promise<void> {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 16_384 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  const opened = (request: FastifyRequest) => openPage(app, request, (request.params as { token: string }).token);
  const show = (reply: FastifyReply, html: string, status = 200) =>
    reply
      .code(status)
      .header('content-security-policy', pagePolicy)
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .type('text/html; charset=utf-8')
      .send(html as never);
  const showPage = (reply: FastifyReply, { page, address }: Opened, token: string, attempt: string | null = null) => {
    const { config } = app.dependencies;
    const isTest = page.paymentProvider === 'sandbox';
    return show(
      reply,
      renderCheckoutPage(page, { address, formToken: checkoutFormToken(config, token), attempt, isTest }),
    );
  };

  app.get(`${checkoutPath}/:token`, {
    ...hidden,
    handler: async (request, reply) => {
      const found = await opened(request);
      if (!found) return show(reply, renderNoPage(), 404);
      const { page } = found;
      if (isCheckoutActive(page.checkoutStatus) && page.providerUrl) return reply.redirect(page.providerUrl, 302);
      const { attempt } = (request.query ?? {}) as { attempt?: string };
      return showPage(reply, found, request.params.token, attempt ?? null);
    },
  });

  app.get(`${checkoutPath}/:token/return`, {
    ...hidden,
    handler: async (request, reply) => {
      const before = await opened(request);
      if (!before) return show(reply, renderNoPage(), 404);
      // Coming back proves nothing: the provider is asked.
      await readCheckout(before.asker, before.page.id).catch(() => undefined);
      const found = (await opened(request)) ?? before;
      const target = returnTarget(found.page);
      return target === null ? showPage(reply, found, request.params.token) : reply.redirect(target, 302);
    },
  });

  app.get(`${checkoutPath}/:token/progress`, {
    ...hidden,
    handler: async (request, reply) => {
      const found = await opened(request);
      if (!found) return reply.code(404).send({ status: 'gone' } as never);
      const read = await readCheckout(found.asker, found.page.id).catch(() => null);
      const status = read?.checkout_status ?? found.page.checkoutStatus;
      return reply
        .header('cache-control', 'no-store')
        .send({
          status,
          terminal: read?.terminal ?? false,
          next_poll_after_ms: read?.next_poll_after_ms ?? 2000,
        } as never);
    },
  });

  for (const action of ['pay', 'confirm', 'cancel'] as const) {
    app.post(`${checkoutPath}/:token/${action}`, {
      ...hidden,
      handler: async (request, reply) => {
        const found = await opened(request);
        if (!found) return show(reply, renderNoPage(), 404);
        const fields = (request.body ?? {}) as Fields;
        const { token } = request.params;
        if (!isSame(fields.form_token ?? '', checkoutFormToken(app.dependencies.config, token))) {
          return show(reply, renderNoPage(), 403);
        }
        const attempt = isCheckoutActive(found.page.checkoutStatus) ? await perform(app, found, action, fields) : null;
        return reply.redirect(attempt ? `${found.address}?attempt=${encodeURIComponent(attempt)}` : found.address, 303);
      },
    });
  }
}

async function openPage(app: Api, request: FastifyRequest, token: string): Promise<Opened | null> {
  const { database, temporal } = app.dependencies;
  const owner = await inSqlTransaction(database, systemScope, (tx) => checkoutOfToken(tx, hashOfToken(token)));
  if (!owner) return null;
  const { tenantId, environmentId } = owner;
  const scope = { tenantId, environmentId, actor: 'payer', requestId: request.id };
  const page = await inSqlTransaction(database, scope, (tx) => readCheckoutPage(tx, owner.id));
  if (!page) return null;
  const isOver = page.endedAt !== null && page.testClockId === null;
  if (isOver && Date.parse(realNow()) - Date.parse(page.endedAt!) > readableAfterEndMs) return null;
  const transaction = <T>(work: (tx: Transaction) => Promise<T>) => inTransaction(database, scope, work);
  return { page, asker: { server: request.server, temporal, scope, transaction }, address: `${checkoutPath}/${token}` };
}

/**
 * Does what a form of the page asks; answers the attempt that waits for its payer, null for none. One attempt is under way at a time: the
 * gateway refuses a second one, whose payer is shown how the first stands. design: money-in-checkout §A8
 */
async function perform(
  app: Api,
  { page, asker }: Opened,
  action: 'pay' | 'confirm' | 'cancel',
  fields: Fields,
): Promise<string | null> {
  const payer = app.dependencies.gateways.get(page.paymentProvider)?.payer;
  if (action === 'cancel') {
    await cancelAtWorkflow(asker, page.id).catch(ignoreRefusal);
    return null;
  }
  if (!payer) return null;
  let attempt: string | null = null;
  if (action === 'pay') {
    const cardNumber = (fields.card_number ?? '').replaceAll(/\D/g, '');
    const answer = await payer.payLink(page.intentToken, { cardNumber }).catch(ignoreRefusal);
    attempt = answer?.status === 'requires_action' ? answer.attemptToken : null;
  } else if (fields.attempt?.startsWith(page.intentToken)) {
    await payer.play(fields.attempt, fields.action === 'confirm' ? 'confirm' : 'fail');
  }
  if (attempt === null) await readCheckout(asker, page.id);
  return attempt;
}

function ignoreRefusal(error: unknown): null {
  if (refusalIn(error)) return null;
  throw error;
}

/** Where the payer goes on; null while nothing is decided, and where no address was given. */
function returnTarget(page: CheckoutPage): string | null {
  if (isCheckoutActive(page.checkoutStatus)) return null;
  const unpaid = page.failureReason === 'cancelled' ? (page.cancelUrl ?? page.failureUrl) : page.failureUrl;
  const target = page.checkoutStatus === 'completed' ? page.successUrl : unpaid;
  if (!target) return null;
  const url = new URL(target);
  url.searchParams.set('checkout_session_id', page.id);
  url.searchParams.set('status', page.checkoutStatus);
  return url.toString();
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

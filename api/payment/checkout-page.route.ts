import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { renderCheckoutNotice, renderCheckoutPage } from '../../integrations/checkout-page/render.ts';
import {
  type CheckoutLanguage,
  type CheckoutProblem,
  checkoutLanguages,
} from '../../integrations/checkout-page/view.ts';
import type { RenderedPage } from '../../integrations/html-page.ts';
import type { Api } from '../api.ts';
import {
  askedPage,
  type FormFields,
  isOwnForm,
  noteKeptCard,
  type OpenedPage,
  occasionOf,
  openAgain,
  openPage,
  performForm,
  progressOf,
  returnedPage,
} from './checkout-payer.ts';
import { checkoutView, returnTarget } from './checkout-view.ts';
import { checkoutPath } from './checkout-workflow.ts';

const maxLength = 64;
const params = z.object({ token: z.string().max(maxLength) });
/** Anything else in the address of a page is passed over: mail programs add members of their own. */
const querystring = z.object({
  lang: z.enum(checkoutLanguages).optional().catch(undefined),
  problem: z.enum(['card_number', 'unreachable', 'unsaved']).optional().catch(undefined),
  returned: z.string().optional().catch(undefined),
});
const hidden = { schema: { hide: true, params, querystring } } as const;
const formBodyLimit = 16_384;

type PageRequest = FastifyRequest<{ Params: z.output<typeof params>; Querystring: z.output<typeof querystring> }>;

/**
 * Payment pages: the token is all that is needed, and they work without script. Returning from a provider proves nothing: it is asked.
 * A form of the page leads back to the page, never to the seller's own. spec: wallets-and-payments §2.17; design: money-in-checkout §B13, §B14
 */
export async function checkoutPageRoutes(app: Api): Promise<void> {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formBodyLimit },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  // A fault of ours tells a payer nothing about the session.
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error }, 'a payment page failed');
    return show(reply, renderCheckoutNotice('unavailable', languageOf(request as PageRequest)), 503);
  });

  app.get(`${checkoutPath}/:token`, {
    ...hidden,
    handler: async (request, reply) => {
      const opened = await openPage(request, request.params.token);
      return opened ? showPage(request, reply, opened) : showNothing(request, reply);
    },
  });

  app.get(`${checkoutPath}/:token/return`, {
    ...hidden,
    handler: async (request, reply) => {
      const before = await openPage(request, request.params.token);
      if (!before) return showNothing(request, reply);
      const opened = await returnedPage(request, request.params.token, before);
      const target = returnTarget(opened.page) ?? `${opened.address}?returned=1`;
      return reply.redirect(target, 303);
    },
  });

  app.get(`${checkoutPath}/:token/progress`, {
    ...hidden,
    handler: async (request, reply) => {
      const before = await openPage(request, request.params.token);
      if (!before) return reply.code(404).send({ state: 'gone', next_poll_after_ms: 0 } as never);
      const opened = await askedPage(request, request.params.token, before);
      return reply.header('cache-control', 'no-store').send(progressOf(opened) as never);
    },
  });

  app.post(`${checkoutPath}/:token/again`, {
    ...hidden,
    handler: async (request, reply) => {
      const opened = await openPage(request, request.params.token);
      if (!opened) return showNothing(request, reply);
      if (!isOwnForm(opened, (request.body ?? {}) as FormFields)) return showNothing(request, reply, 403);
      const path = (await openAgain(request, opened)) ?? opened.address;
      return reply.redirect(addressOf(path, languageOf(request), null), 303);
    },
  });

  app.post(`${checkoutPath}/:token/kept`, {
    ...hidden,
    handler: async (request, reply) => {
      const opened = await openPage(request, request.params.token);
      const fields = (request.body ?? {}) as FormFields;
      if (!opened) return reply.code(404).send({} as never);
      if (!isOwnForm(opened, fields)) return reply.code(403).send({} as never);
      const isNoted = await noteKeptCard(opened, fields);
      return reply.code(isNoted ? 200 : 409).send({} as never);
    },
  });

  for (const action of ['pay', 'confirm', 'cancel'] as const) {
    app.post(`${checkoutPath}/:token/${action}`, {
      ...hidden,
      handler: async (request, reply) => {
        const opened = await openPage(request, request.params.token);
        const fields = (request.body ?? {}) as FormFields;
        if (!opened) return showNothing(request, reply);
        if (!isOwnForm(opened, fields)) return showNothing(request, reply, 403);
        const problem = await performForm(opened, action, fields);
        return reply.redirect(addressOf(opened.address, languageOf(request), problem), 303);
      },
    });
  }
}

function addressOf(path: string, language: CheckoutLanguage, problem: CheckoutProblem | null): string {
  const query = new URLSearchParams({ lang: language, ...(problem ? { problem } : {}) });
  return `${path}?${query}`;
}

/** Language of `?lang=`, else the one of ours that the browser likes best. */
function languageOf(request: PageRequest): CheckoutLanguage {
  const [first] = checkoutLanguages;
  if (request.query?.lang) return request.query.lang;
  const liked = request.language([...checkoutLanguages]);
  return checkoutLanguages.find((language) => language === liked) ?? first;
}

/** A page that waits is loaded anew by those who have no script: its provider is asked first. */
async function showPage(request: PageRequest, reply: FastifyReply, before: OpenedPage) {
  const { problem, returned } = request.query;
  const told = { language: languageOf(request), problem: problem ?? null, hasReturned: returned !== undefined };
  const view = checkoutView(before.page, occasionOf(before, told));
  if (view.state.kind !== 'waiting') return show(reply, renderCheckoutPage(view));
  const opened = await askedPage(request, request.params.token, before);
  return show(reply, renderCheckoutPage(checkoutView(opened.page, occasionOf(opened, told))));
}

function showNothing(request: PageRequest, reply: FastifyReply, status = 404) {
  return show(reply, renderCheckoutNotice('unknown', languageOf(request)), status);
}

function show(reply: FastifyReply, page: RenderedPage, status = 200) {
  return reply
    .code(status)
    .header('content-security-policy', page.contentSecurityPolicy)
    .header('cache-control', 'no-store')
    .header('referrer-policy', page.referrerPolicy)
    .header('x-content-type-options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(page.html as never);
}

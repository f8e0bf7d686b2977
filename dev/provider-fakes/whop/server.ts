import { whopVersion } from '../../../integrations/whop/client.ts';
import {
  type FakeAnswer,
  type FakeCall,
  type FakeOptions,
  type FakePage,
  type FakeRequest,
  LostAnswer,
  type OfferedFake,
  type ProviderFake,
  startFake,
} from '../shell.ts';
import { type FakeEvent, invalid, WhopBooks, WhopRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { saveOnPage } from './charge.ts';
import { hostedPage } from './page.ts';
import { isWaiting, payPage, planOf } from './payment.ts';

export type WhopFake = ProviderFake<CallKind, WhopBooks, FakeEvent>;

/** Calls of which a repeated idempotency key is answered as the first time. Those of refunds are not known to be. */
const keyed = new Set<CallKind>(['plan', 'open']);

/**
 * A Whop that moves no money: accounts `biz_NAME` with keys `apik_NAME` and `apik_NAME_…`, the calls that the adapter makes, strict about
 * parameters, permissions and idempotency keys, and a page on which the sandbox's test cards pay. Events are told under the account's id.
 * docs: providers.md
 */
export function startWhopFake(options: FakeOptions = {}): Promise<WhopFake> {
  const accounts: WhopBooks[] = [];
  return startFake<CallKind, WhopBooks, FakeEvent>(
    {
      apiPath: /^\/api\/v1\//,
      faultBody: new WhopRefusal(400, 'fault').body,
      newBooks: (accountId) => {
        const books = new WhopBooks(accountId);
        accounts.push(books);
        return books;
      },
      accountOf: ({ accountId }) => accountId,
      admit,
      callOf: (books, request) => {
        const { method, url, body, pageUrl } = request;
        const holderOf = (id: string) => accounts.find(({ configurations }) => configurations.has(id)) ?? null;
        const around = { pageUrl, idempotencyKey: keyOf(request), holderOf };
        return callOf(books, method, url, body === '' ? {} : JSON.parse(body), around) ?? refused(404, 'not_found');
      },
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = { start: startWhopFake, secrets: 'an api_key apik_NAME and its company_id biz_NAME' };

function refused(status: number, code: string): FakeAnswer {
  return { status, body: new WhopRefusal(status, code).body };
}

/** The account whose key a request carries. */
function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const name = /^Bearer apik_([A-Za-z0-9]+)(_\w+)?$/.exec(headers.authorization ?? '')?.[1];
  return name === undefined ? refused(401, 'unauthorized') : { key: `biz_${name}` };
}

function keyOf({ headers }: FakeRequest): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : null;
}

/** The card of a payment loses a request of its refund before it, or the answer behind it. */
function answerOf(books: WhopBooks, call: FakeCall<CallKind>, request: FakeRequest): FakeAnswer | null {
  const card = call.kind === 'refund' ? books.cards.get(request.url.pathname.split('/')[4] ?? '') : undefined;
  if (card?.behaviour === 'unreachable_times') {
    card.count -= 1;
    if (card.count >= 0) return null;
  }
  let answered: FakeAnswer;
  try {
    answered = answerOnce(books, call, request);
  } catch (error) {
    if (error instanceof LostAnswer) return null;
    throw error;
  }
  return card?.behaviour === 'refund_loses_answer' ? null : answered;
}

/** A repeated key is answered as before, where the first request succeeded; with other parameters it is refused. */
function answerOnce(books: WhopBooks, { kind, answer }: FakeCall<CallKind>, request: FakeRequest): FakeAnswer {
  const idempotencyKey = keyOf(request);
  const key = keyed.has(kind) ? idempotencyKey : null;
  const asked = `${request.url.pathname} ${request.body}`;
  try {
    if (request.headers['api-version-date'] !== whopVersion) throw invalid('Api-Version-Date is missing');
    if (idempotencyKey !== null && idempotencyKey.length > 255) throw invalid('Idempotency-Key is too long');
    const known = key === null ? undefined : books.answers.get(key);
    if (known && known.asked !== asked) throw new WhopRefusal(400, 'idempotency_key_mismatch');
    if (known) return { status: 200, body: known.body };
    const body = structuredClone(answer());
    if (key !== null) books.answers.set(key, { asked, body });
    return { status: 200, body };
  } catch (error) {
    if (!(error instanceof WhopRefusal)) throw error;
    return { status: error.status, body: error.body };
  }
}

/** The page behind the address of a configuration. */
function pageOf(accounts: readonly WhopBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = url.searchParams.get('session') ?? '';
  const books = accounts.find(({ configurations }) => configurations.has(id));
  const configuration = books?.configurations.get(id);
  if (!books || !configuration || books.deleted.has(id) || !url.pathname.startsWith('/checkout/')) return null;
  let outcome: string | null = null;
  const isSetup = configuration.mode === 'setup';
  try {
    const card = new URLSearchParams(body).get('card_number') ?? '';
    if (method === 'POST') outcome = isSetup ? saveOnPage(books, id, card) : payPage(books, id, card);
  } catch (error) {
    if (!(error instanceof WhopRefusal)) throw error;
    outcome = 'no test card';
  }
  const plan = configuration.plan && planOf(books, configuration.plan.id);
  const isPaid = plan !== null && (plan.stock < 1 || books.paymentsOf(id).some(isWaiting));
  const isOver = method === 'POST' && (isSetup ? outcome === 'succeeded' : isPaid);
  return isOver ? { location: configuration.redirect_url } : { html: hostedPage(plan, configuration, outcome) };
}

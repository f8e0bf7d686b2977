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
import { ChargebeeBooks, ChargebeeRefusal, type FakeEvent, invalid } from './books.ts';
import { type AskedCall, type CallKind, callOf } from './calls.ts';
import { hostedPage } from './page.ts';
import { isPayable, pageOf, payPage } from './payment.ts';

/** Faults that Chargebee alone has. */
type ChargebeeFault = 'site_not_found' | 'operation_failed';

export type ChargebeeFake = ProviderFake<CallKind, ChargebeeBooks, FakeEvent, ChargebeeFault>;

const apiPath = '/api/v2/';
/** Time for which an idempotency key is known. */
const keyLifeMs = 30 * 60_000;

const fault = (status: number) => refused(new ChargebeeRefusal(status, 'operation_failed', 'api_fault'));

/**
 * A Chargebee that moves no money: one site a key, the calls that the adapter makes, strict about parameters and idempotency keys, and a page
 * on which the sandbox's test cards pay, which nobody can close. Events are told under the site's key. docs: providers.md
 */
export function startChargebeeFake(options: FakeOptions = {}): Promise<ChargebeeFake> {
  return startFake<CallKind, ChargebeeBooks, FakeEvent, ChargebeeFault>(
    {
      apiPath: /^\/api\/v2\//,
      faultBody: fault(500).body,
      faultAnswers: {
        401: fault(401),
        429: fault(429),
        site_not_found: refused(new ChargebeeRefusal(404, 'invalid_request', 'site_not_found')),
        operation_failed: refused(new ChargebeeRefusal(400, 'operation_failed', 'internal_temporary_error')),
      },
      newBooks: () => new ChargebeeBooks(),
      accountOf: (_, apiKey) => apiKey,
      admit,
      callOf: callIn,
      answer: answerOf,
      page: showPage,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = {
  start: startChargebeeFake,
  secrets: 'any site, webhook_username and webhook_password and any api_key that begins with test_',
};

function refused({ status, body }: ChargebeeRefusal): FakeAnswer {
  return { status, body };
}

/** The API key of a request: HTTP Basic with an empty password. */
function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const encoded = /^Basic ([\w+/=]+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const key = /^(test_\w+):$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
  return key === undefined
    ? refused(new ChargebeeRefusal(401, 'invalid_request', 'api_authentication_failed'))
    : { key };
}

function askedIn({ method, url, headers, body, pageUrl }: FakeRequest): AskedCall {
  const key = headers['chargebee-idempotency-key'];
  return {
    method,
    path: url.pathname.slice(apiPath.length),
    parameters: method === 'GET' ? url.searchParams : new URLSearchParams(body),
    key: typeof key === 'string' ? key : null,
    pageUrl,
  };
}

function callIn(books: ChargebeeBooks, request: FakeRequest): FakeCall<CallKind> | FakeAnswer {
  const asked = askedIn(request);
  const call = callOf(books, asked);
  if (!call) return refused(new ChargebeeRefusal(404, 'invalid_request', 'resource_not_found'));
  const isMailed = asked.method === 'POST' && request.headers['chargebee-event-email'] !== 'all-disabled';
  if (isMailed) books.mailed.push(asked.path);
  return call;
}

/** The card of a payment loses a request of its refund before it, or the answer behind it. */
function answerOf(books: ChargebeeBooks, call: FakeCall<CallKind>, request: FakeRequest): FakeAnswer | null {
  const asked = askedIn(request);
  const card = call.kind === 'refund' ? books.cards.get(refundedIn(books, asked)) : undefined;
  if (card?.behaviour === 'unreachable_times') {
    card.count -= 1;
    if (card.count >= 0) return null;
  }
  let answer: FakeAnswer;
  try {
    answer = answerOnce(books, call, asked);
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw error;
    if (error.answer !== undefined && asked.key !== null) keepAnswer(books, asked, { status: 200, body: error.answer });
    return null;
  }
  return card?.behaviour === 'refund_loses_answer' ? null : answer;
}

/** Id of the payment that a refund is of, which is named itself or by its invoice. */
function refundedIn(books: ChargebeeBooks, { path }: AskedCall): string {
  const [kind, id = ''] = path.split('/');
  return kind === 'invoices' ? (books.invoices.get(id)?.linked_payments[0]?.txn_id ?? '') : id;
}

/** The answer to a request; that of its first time where its idempotency key is known, for 30 minutes. */
function answerOnce(
  books: ChargebeeBooks,
  { answer }: FakeCall<CallKind>,
  { path, parameters, key }: AskedCall,
): FakeAnswer {
  if (key === null) return answered(answer);
  if (key === '' || key.length > 100) return refused(invalid('idempotency_key'));
  const request = `${path}?${parameters}`;
  const known = books.keys.get(key);
  if (known && Date.now() - known.at < keyLifeMs) {
    const isSame = known.request === request;
    return isSame ? { status: known.status, body: known.answer } : refused(invalid('idempotency_key'));
  }
  return keepAnswer(books, { path, parameters, key }, answered(answer));
}

function keepAnswer(
  books: ChargebeeBooks,
  { path, parameters, key }: Pick<AskedCall, 'path' | 'parameters' | 'key'>,
  { status, body }: FakeAnswer,
): FakeAnswer {
  const request = `${path}?${parameters}`;
  books.keys.set(key ?? '', { status, answer: structuredClone(body), request, at: Date.now() });
  return { status, body };
}

function answered(answer: () => unknown): FakeAnswer {
  try {
    return { status: 200, body: structuredClone(answer()) };
  } catch (error) {
    if (!(error instanceof ChargebeeRefusal)) throw error;
    return refused(error);
  }
}

/** The page behind an address that a payer was sent to. */
function showPage(accounts: readonly ChargebeeBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/pages\/v3\/(\w+)$/.exec(url.pathname)?.[1] ?? '';
  const books = accounts.find((each) => each.pages.has(id));
  const order = books?.orders.get(id);
  if (!books || !order) return null;
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payPage(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof ChargebeeRefusal)) throw error;
    outcome = 'no test card';
  }
  const page = pageOf(books, id);
  const isDone = method === 'POST' && (!isPayable(page) || outcome === 'in_progress' || outcome === 'saved');
  return isDone
    ? { location: `${order.redirectUrl}?id=${id}&state=${page.state}` }
    : { html: hostedPage(order, outcome) };
}

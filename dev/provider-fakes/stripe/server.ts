import {
  type FakeAnswer,
  type FakeOptions,
  type FakePage,
  type FakeRequest,
  LostAnswer,
  type OfferedFake,
  type ProviderFake,
  startFake,
} from '../shell.ts';
import { type FakeEvent, invalid, StripeBooks, StripeRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { hostedPage } from './page.ts';
import { parseForm } from './parameters.ts';
import { paySession } from './payment.ts';

export type StripeFake = ProviderFake<CallKind, StripeBooks, FakeEvent>;

/**
 * A Stripe that moves no money: one account a key, the calls that the adapter makes, strict about parameters and idempotency keys, and a
 * page on which the sandbox's test cards pay. Events are told under the account's id. docs: providers.md
 */
export function startStripeFake(options: FakeOptions = {}): Promise<StripeFake> {
  return startFake<CallKind, StripeBooks, FakeEvent>(
    {
      apiPath: /^\/v1\//,
      faultBody: { error: { type: 'api_error' } },
      newBooks: (secretKey) => new StripeBooks(secretKey),
      accountOf: ({ accountId }) => accountId,
      admit,
      callOf: (books, { method, url, body, pageUrl }) =>
        callOf(books, method, url.pathname, parseForm(method === 'GET' ? url.search.slice(1) : body), pageUrl) ??
        refused(404, 'Unrecognized request URL'),
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = { start: startStripeFake, secrets: 'any key that begins with sk_test_' };

function refused(status: number, message: string): FakeAnswer {
  return { status, body: { error: { type: 'invalid_request_error', message } } };
}

function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const key = /^Bearer ((?:sk|rk)_test_\w+)$/.exec(headers.authorization ?? '')?.[1];
  return key === undefined ? refused(401, 'Invalid API Key') : { key };
}

/** A repeated key is answered as before; with other parameters it is refused. Refused parameters use no key up. */
function answerOf(
  books: StripeBooks,
  call: { answer(): unknown },
  { url, headers, body }: FakeRequest,
): FakeAnswer | null {
  const asked = url.pathname + body;
  const key = headers['idempotency-key'];
  const known = typeof key === 'string' ? books.answers.get(key) : undefined;
  if (known) {
    if (known.asked === asked) return { status: known.status, body: known.body };
    return { status: 400, body: { error: { type: 'idempotency_error' } } };
  }
  const keep = (answer: FakeAnswer): FakeAnswer => {
    if (typeof key === 'string') books.answers.set(key, { asked, ...answer });
    return answer;
  };
  try {
    if (headers['stripe-version'] !== '2026-10-28.endive') throw invalid('api_version_invalid', null);
    if (typeof key === 'string' && key.length > 255) throw invalid('idempotency_key_too_long', null);
    return keep({ status: 200, body: structuredClone(call.answer()) });
  } catch (error) {
    if (error instanceof LostAnswer) {
      if (error.answer !== undefined) keep({ status: 200, body: structuredClone(error.answer) });
      return null;
    }
    if (!(error instanceof StripeRefusal)) throw error;
    const refusal = { status: error.status, body: structuredClone({ error: error.error }) };
    return error.status === 402 ? keep(refusal) : refusal;
  }
}

/** The page behind a session's address. */
function pageOf(accounts: readonly StripeBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/pay\/(cs_test_\w+)$/.exec(url.pathname)?.[1];
  const books = accounts.find((each) => id !== undefined && each.sessions.has(id));
  const session = id === undefined ? undefined : books?.sessions.get(id);
  if (!books || !session) return null;
  if (method !== 'POST') return { html: hostedPage(session, null) };
  let outcome: string;
  try {
    outcome = paySession(books, session.id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof StripeRefusal)) throw error;
    outcome = error.message;
  }
  return session.status === 'open' ? { html: hostedPage(session, outcome) } : { location: session.success_url };
}

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
import { type FakeEvent, NomodBooks, NomodRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { hostedPage } from './page.ts';
import { payCheckout } from './payment.ts';

export type NomodFake = ProviderFake<CallKind, NomodBooks, FakeEvent>;

/**
 * A Nomod that moves no money: one account a key, the calls that the adapter makes, strict about parameters and idempotency keys, and a
 * page on which the sandbox's test cards pay. Events are told under the account's key. docs: providers.md
 */
export function startNomodFake(options: FakeOptions = {}): Promise<NomodFake> {
  return startFake<CallKind, NomodBooks, FakeEvent>(
    {
      apiPath: /^\/v1\//,
      faultBody: { code: 'fault', message: 'Fault' },
      newBooks: () => new NomodBooks(),
      accountOf: (_, apiKey) => apiKey,
      admit,
      callOf: (books, request) => callOf(books, request) ?? refused(404, 'not_found'),
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = { start: startNomodFake, secrets: 'any key that begins with sk_test_' };

function refused(status: number, code: string): FakeAnswer {
  return { status, body: { code, message: code } };
}

function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const key = headers['x-api-key'];
  return typeof key === 'string' && /^sk_test_\w+$/.test(key) ? { key } : refused(401, 'not_authenticated');
}

function answerOf(_: NomodBooks, { kind, answer }: FakeCall<CallKind>): FakeAnswer | null {
  try {
    return { status: kind === 'open' ? 201 : 200, body: structuredClone(answer()) };
  } catch (error) {
    if (error instanceof LostAnswer) return null;
    if (!(error instanceof NomodRefusal)) throw error;
    return { status: error.status, body: error.body };
  }
}

/** The page behind a checkout's address. */
function pageOf(accounts: readonly NomodBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/pay\/([\w-]+)$/.exec(url.pathname)?.[1] ?? '';
  const books = accounts.find((each) => each.checkouts.has(id));
  const addresses = books?.addresses.get(id);
  if (!books || !addresses) return null;
  const checkout = books.checkoutOf(id);
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payCheckout(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof NomodRefusal)) throw error;
    outcome = 'no test card';
  }
  const isOver = method === 'POST' && (checkout.status !== 'created' || outcome === 'created');
  return isOver ? { location: addresses.success } : { html: hostedPage(checkout, addresses, outcome) };
}

import {
  type FakeAnswer,
  type FakeOptions,
  type FakePage,
  type FakeRequest,
  type ProviderFake,
  startFake,
} from '../shell.ts';
import { type FakeEvent, MoyasarBooks, MoyasarRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { hostedPage } from './page.ts';
import { invoiceOf, payInvoice } from './payment.ts';

export type MoyasarFake = ProviderFake<CallKind, MoyasarBooks, FakeEvent>;

/**
 * A Moyasar that moves no money: one account a key, the calls that the adapter makes, strict about parameters, and a page on which the
 * sandbox's test cards pay. Events are told under the account's key. docs: providers.md
 */
export function startMoyasarFake(options: FakeOptions = {}): Promise<MoyasarFake> {
  return startFake<CallKind, MoyasarBooks, FakeEvent>(
    {
      apiPath: /^\/v1\//,
      faultBody: { type: 'api_error', message: 'Fault', errors: null },
      newBooks: () => new MoyasarBooks(),
      accountOf: (_, secretKey) => secretKey,
      admit,
      callOf: (books, { method, url, body, pageUrl }) =>
        callOf(books, method, url, body === '' ? {} : JSON.parse(body), pageUrl) ??
        refused(404, 'invalid_request_error', 'Not found'),
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

function refused(status: number, type: string, message: string): FakeAnswer {
  return { status, body: { type, message, errors: null } };
}

/** The secret key of a request: HTTP Basic with an empty password. */
function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const encoded = /^Basic ([\w+/=]+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const key = /^(sk_test_\w+):$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
  return key === undefined ? refused(401, 'authentication_error', 'Invalid API Key') : { key };
}

/** The card of a payment loses a request of its refund before it, or the answer behind it. */
function answerOf(
  books: MoyasarBooks,
  { kind, answer }: { kind: CallKind; answer(): unknown },
  { url }: FakeRequest,
): FakeAnswer | null {
  const card = kind === 'refund' ? books.cards.get(url.pathname.split('/')[3] ?? '') : undefined;
  if (card?.behaviour === 'unreachable_times') {
    card.count -= 1;
    if (card.count >= 0) return null;
  }
  try {
    const answered = { status: kind === 'open' ? 201 : 200, body: structuredClone(answer()) };
    return card?.behaviour === 'refund_loses_answer' ? null : answered;
  } catch (error) {
    if (!(error instanceof MoyasarRefusal)) throw error;
    return card?.behaviour === 'refund_loses_answer' ? null : { status: error.status, body: error.body };
  }
}

/** The page behind an invoice's address. */
function pageOf(accounts: readonly MoyasarBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/pay\/([\w-]+)$/.exec(url.pathname)?.[1];
  const books = accounts.find((each) => id !== undefined && each.invoices.has(id));
  if (!books || id === undefined) return null;
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payInvoice(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof MoyasarRefusal)) throw error;
    outcome = 'no test card';
  }
  const invoice = invoiceOf(books, id);
  const isOver = method === 'POST' && (invoice.status !== 'initiated' || outcome === 'initiated');
  return isOver ? { location: invoice.success_url } : { html: hostedPage(invoice, outcome) };
}

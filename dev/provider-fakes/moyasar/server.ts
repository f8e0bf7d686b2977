import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type FakeAnswer,
  type FakeOptions,
  type FakePage,
  type FakeRequest,
  type OfferedFake,
  type ProviderFake,
  startFake,
} from '../shell.ts';
import { type FakeEvent, MoyasarBooks, MoyasarRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { hostedPage, verifyPage } from './page.ts';
import { invoiceOf, payInvoice } from './payment.ts';
import { verifyCard } from './token.ts';

export type MoyasarFake = ProviderFake<CallKind, MoyasarBooks, FakeEvent>;

/**
 * A Moyasar that moves no money: one account a key, the calls that the adapter makes, strict about parameters, and a page on which the
 * sandbox's test cards pay. Events are told under the account's key. docs: providers.md
 */
export function startMoyasarFake(options: FakeOptions = {}): Promise<MoyasarFake> {
  return startFake<CallKind, MoyasarBooks, FakeEvent>(
    {
      apiPath: /^\/v1\//,
      browserPath: /^\/v1\/tokens$/,
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

/** The fake beside a running installation. */
export const fake: OfferedFake = {
  start: startMoyasarFake,
  secrets: 'a secret_key sk_test_NAME and its publishable_key pk_test_NAME',
};

function refused(status: number, type: string, message: string): FakeAnswer {
  return { status, body: { type, message, errors: null } };
}

/** The account of a request, by HTTP Basic with an empty password: a publishable key has cards kept and does nothing else. */
function admit({ method, url, headers }: FakeRequest): { key: string } | FakeAnswer {
  const encoded = /^Basic ([\w+/=]+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const [, kind, name] = /^(sk|pk)_test_(\w+):$/.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  const keepsCard = method === 'POST' && url.pathname === '/v1/tokens';
  const isAllowed = keepsCard ? kind === 'pk' : kind === 'sk';
  return isAllowed ? { key: `sk_test_${name}` } : refused(401, 'authentication_error', 'Invalid API Key');
}

/** The card of a payment loses a request of its charge or refund before it, or the answer behind it. */
function answerOf(
  books: MoyasarBooks,
  { kind, answer }: { kind: CallKind; answer(): unknown },
  { url, body }: FakeRequest,
): FakeAnswer | null {
  const card = kind === 'refund' ? books.cards.get(url.pathname.split('/')[3] ?? '') : cardOf(books, kind, body);
  if (card?.behaviour === 'unreachable_times') {
    card.count -= 1;
    if (card.count >= 0) return null;
  }
  try {
    const answered = { status: ['open', 'keep', 'charge'].includes(kind) ? 201 : 200, body: structuredClone(answer()) };
    return loses.has(`${kind} ${card?.behaviour}`) ? null : answered;
  } catch (error) {
    if (!(error instanceof MoyasarRefusal)) throw error;
    return loses.has(`${kind} ${card?.behaviour}`) ? null : { status: error.status, body: error.body };
  }
}

const loses = new Set(['refund refund_loses_answer', 'charge loses_answer']);

/** The kept card that a call charges. */
function cardOf(books: MoyasarBooks, kind: CallKind, body: string): SandboxCard | undefined {
  if (kind !== 'charge') return undefined;
  return books.kept.get(JSON.parse(body)?.source?.token)?.card;
}

/** The bank's page on which a payer confirms its card. */
function verifyPageOf(accounts: readonly MoyasarBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/verify\/(\w+)$/.exec(url.pathname)?.[1];
  const books = accounts.find((each) => id !== undefined && each.tokens.has(id));
  if (!books || id === undefined) return null;
  if (method !== 'POST') return { html: verifyPage() };
  const location = verifyCard(books, id, new URLSearchParams(body).get('answer') === 'fail' ? 'fail' : 'confirm');
  return location === null ? null : { location };
}

/** The page behind an invoice's address. */
function pageOf(accounts: readonly MoyasarBooks[], request: FakeRequest): FakePage | null {
  if (request.url.pathname.startsWith('/verify/')) return verifyPageOf(accounts, request);
  const { method, url, body } = request;
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

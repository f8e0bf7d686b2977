import {
  type FakeAnswer,
  type FakeCall,
  type FakeOptions,
  type FakePage,
  type FakeRequest,
  type OfferedFake,
  type ProviderFake,
  startFake,
} from '../shell.ts';
import { type FakeEvent, PaddleBooks, PaddleRefusal } from './books.ts';
import { type CallKind, callOf } from './calls.ts';
import { fakeScript, hostedPage } from './page.ts';
import { begin, isPayable, payTransaction, transactionOf } from './payment.ts';

export type PaddleFake = ProviderFake<CallKind, PaddleBooks, FakeEvent>;

const scriptPath = '/paddle/v2/paddle.js';

/**
 * A Paddle that moves no money: one account a key, the calls that the adapter makes, strict about parameters, a script for our page, and a
 * page on which the sandbox's test cards pay. Events are told under the account's key. docs: providers.md
 */
export function startPaddleFake(options: FakeOptions = {}): Promise<PaddleFake> {
  return startFake<CallKind, PaddleBooks, FakeEvent>(
    {
      apiPath: /^\/(?!pay\/|paddle\/v2\/paddle\.js$)/,
      faultBody: new PaddleRefusal(500, 'fault').body,
      newBooks: () => new PaddleBooks(),
      accountOf: (_, apiKey) => apiKey,
      admit,
      callOf: (books, { method, url, body }) =>
        callOf(books, method, url, body === '' ? {} : JSON.parse(body)) ?? refused(404, 'not_found'),
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = {
  start: startPaddleFake,
  secrets: 'any api_key that begins with pdl_sdbx_ and any client_side_token that begins with test_',
};

function refused(status: number, code: string): FakeAnswer {
  return { status, body: new PaddleRefusal(status, code).body };
}

function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const key = /^Bearer (pdl_sdbx_\w+)$/.exec(headers.authorization ?? '')?.[1];
  if (key === undefined) return refused(403, 'invalid_token');
  return headers['paddle-version'] === '1' ? { key } : refused(400, 'unsupported_version');
}

/** The card of a transaction loses a request of its refund before it, or the answer behind it. */
function answerOf(books: PaddleBooks, { kind, answer }: FakeCall<CallKind>, { body }: FakeRequest): FakeAnswer | null {
  const card = kind === 'refund' ? books.cards.get(String(JSON.parse(body).transaction_id)) : undefined;
  if (card?.behaviour === 'unreachable_times') {
    card.count -= 1;
    if (card.count >= 0) return null;
  }
  const losesAnswer = card?.behaviour === 'refund_loses_answer';
  try {
    const isMade = kind === 'open' || kind === 'refund';
    const answered = { status: isMade ? 201 : 200, body: structuredClone({ meta: {}, ...(answer() as object) }) };
    return losesAnswer ? null : answered;
  } catch (error) {
    if (!(error instanceof PaddleRefusal)) throw error;
    return losesAnswer ? null : { status: error.status, body: error.body };
  }
}

/** Paddle's script, or the page of a transaction, which only a browser with a client-side token gets to see. */
function pageOf(accounts: readonly PaddleBooks[], { method, url, body }: FakeRequest): FakePage | null {
  if (url.pathname === scriptPath) return { script: fakeScript };
  const id = url.pathname.slice('/pay/'.length);
  const books = accounts.find((each) => each.transactions.has(id));
  const [token, back] = [url.searchParams.get('token') ?? '', url.searchParams.get('back') ?? ''];
  if (!books || !/^test_\w+$/.test(token) || !/^https?:\/\//.test(back)) return null;
  let outcome: string | null = null;
  const transaction = transactionOf(books, id);
  try {
    if (method === 'POST') outcome = payTransaction(books, id, new URLSearchParams(body).get('card_number') ?? '');
    else if (isPayable(transaction)) begin(books, transaction);
  } catch (error) {
    if (!(error instanceof PaddleRefusal)) throw error;
    outcome = 'no test card';
  }
  const isOver = method === 'POST' && (!isPayable(transaction) || outcome === 'pending_no_action_required');
  return isOver ? { location: back } : { html: hostedPage(transaction, back, outcome) };
}

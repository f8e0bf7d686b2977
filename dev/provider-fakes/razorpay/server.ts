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
import { type FakeEvent, RazorpayBooks, RazorpayRefusal } from './books.ts';
import type { CallKind } from './call.ts';
import { callOf } from './calls.ts';
import { registrationPageOf } from './mandate.ts';
import { hostedPage } from './page.ts';
import { parseParameters } from './parameters.ts';
import { endIfOver, payLink } from './payment.ts';

export type RazorpayFake = ProviderFake<CallKind, RazorpayBooks, FakeEvent>;

/**
 * A Razorpay that moves no money: one account a key id, the calls that the adapter makes, strict about parameters, references and
 * idempotency keys, and a page on which the sandbox's test cards pay. Events are told under the account's id. docs: providers.md
 */
export function startRazorpayFake(options: FakeOptions = {}): Promise<RazorpayFake> {
  return startFake<CallKind, RazorpayBooks, FakeEvent>(
    {
      apiPath: /^\/v1\//,
      faultBody: { error: { code: 'SERVER_ERROR', description: 'something went wrong' } },
      newBooks: (keyId) => new RazorpayBooks(keyId),
      accountOf: ({ accountId }) => accountId,
      admit,
      callOf: (books, { method, url, body, pageUrl }) => {
        const asked = {
          method,
          path: url.pathname,
          query: url.searchParams,
          parameters: parseParameters(body),
          pageUrl,
        };
        return callOf(books, asked) ?? refused(400, 'The requested URL was not found on the server.');
      },
      answer: answerOf,
      page: pageOf,
    },
    options,
  );
}

/** The fake beside a running installation. */
export const fake: OfferedFake = {
  start: startRazorpayFake,
  secrets: 'a key_id rzp_test_NAME and its secret_key secret_NAME',
};

function refused(status: number, description: string): FakeAnswer {
  return { status, body: { error: { code: 'BAD_REQUEST_ERROR', description } } };
}

/** The key id of a request. A secret is right when it is that of its key: `rzp_test_x` has `secret_x`. */
function admit({ headers }: FakeRequest): { key: string } | FakeAnswer {
  const encoded = /^Basic ([\w+/=-]+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const [keyId = '', secret = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 2);
  const name = /^rzp_test_(\w+)$/.exec(keyId)?.[1];
  if (name === undefined) return refused(401, 'The api key provided is invalid');
  return secret === `secret_${name}` ? { key: keyId } : refused(401, 'The api secret provided is invalid');
}

/** A repeated key of a refund is answered as before; with other parameters it is refused. A refusal uses no key up. */
function answerOf(
  books: RazorpayBooks,
  call: { answer(): unknown },
  { url, headers, body }: FakeRequest,
): FakeAnswer | null {
  const asked = url.pathname + body;
  const key = headers['x-refund-idempotency'];
  const known = typeof key === 'string' ? books.answers.get(key) : undefined;
  const keep = (answer: unknown): unknown => {
    if (typeof key === 'string') books.answers.set(key, { asked, body: answer });
    return answer;
  };
  try {
    if (known && known.asked !== asked) {
      throw new RazorpayRefusal('Different request with the same idempotency key has already been processed.');
    }
    if (known) return { status: 200, body: known.body };
    if (key !== undefined && !/^[\w-]{10,}$/.test(String(key)))
      throw new RazorpayRefusal('The idempotency key is invalid');
    return { status: 200, body: keep(structuredClone(call.answer())) };
  } catch (error) {
    if (error instanceof LostAnswer) {
      keep(structuredClone(error.answer));
      return null;
    }
    if (!(error instanceof RazorpayRefusal)) throw error;
    return { status: error.status, body: { error: error.error } };
  }
}

/** The page behind a link's address. A payer who has paid is sent back with what Razorpay adds to the address. */
function pageOf(accounts: readonly RazorpayBooks[], { method, url, body }: FakeRequest): FakePage | null {
  const id = /^\/pay\/((?:plink|inv)_\w+)$/.exec(url.pathname)?.[1] ?? '';
  const saving = accounts.find((each) => each.registrations.has(id));
  if (saving) return registrationPageOf(saving, id, method === 'POST' ? body : null);
  const books = accounts.find((each) => each.links.has(id));
  const link = books?.links.get(id);
  if (!books || !link) return null;
  endIfOver(books, link);
  if (method !== 'POST') return { html: hostedPage(link, null) };
  let outcome: string;
  try {
    outcome = payLink(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof RazorpayRefusal)) throw error;
    outcome = error.message;
  }
  if (outcome !== 'captured') return { html: hostedPage(link, outcome) };
  const back = new URL(link.callback_url);
  back.searchParams.set('razorpay_payment_id', books.paymentsOf(link).at(-1)?.id ?? '');
  back.searchParams.set('razorpay_payment_link_id', id);
  back.searchParams.set('razorpay_payment_link_reference_id', link.reference_id);
  back.searchParams.set('razorpay_payment_link_status', link.status);
  return { location: back.href };
}

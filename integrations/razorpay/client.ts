import { GatewayOutcomeUnknown, GatewayTurnedAway } from '../payment-gateway.ts';
import { callProvider } from '../provider-call.ts';
import type { RazorpayCollection } from './shapes.ts';

export const razorpayUrl = 'https://api.razorpay.com';

export interface RazorpayOptions {
  keyId: string;
  secretKey: string;
  /** Instead of Razorpay's own address: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number;
}

/** A refusal of Razorpay. Its description is not among it: it may name what is nobody's business. */
export interface RazorpayError {
  /** A word for what is wrong, as `amount_over_captured`. */
  reason: string;
  /** The parameter that it is about. */
  field: string | null;
}

/** A definite answer: an object, or a definite refusal. */
export type RazorpayAnswer<T> = { object: T; error: null } | { object: null; error: RazorpayError };

export interface RazorpayClient {
  get<T>(path: string, query?: Record<string, string>): Promise<RazorpayAnswer<T>>;
  /** `refundKey` is the idempotency key, which Razorpay has for refunds alone. */
  post<T>(path: string, parameters?: object, refundKey?: string): Promise<RazorpayAnswer<T>>;
  patch<T>(path: string, parameters: object): Promise<RazorpayAnswer<T>>;
}

/**
 * Calls Razorpay. A key that is refused, or an answer of Razorpay about itself, is no answer about money and throws `GatewayOutcomeUnknown`,
 * as everything does that is not definite.
 */
export function razorpayClient({ baseUrl = razorpayUrl, deadlineMs, ...key }: RazorpayOptions): RazorpayClient {
  const call = async <T>(
    method: 'GET' | 'POST' | 'PATCH',
    url: URL,
    { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<RazorpayAnswer<T>> => {
    const { status, body: answer } = await callProvider({
      provider: 'razorpay',
      method,
      url,
      headers: { ...authorizationOf(key), ...headers },
      ...(body === undefined ? {} : { body }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
    return answerOf<T>(status, answer);
  };
  return {
    get: (path, query = {}) => {
      const url = new URL(`/v1${path}`, baseUrl);
      url.search = new URLSearchParams(query).toString();
      return call('GET', url);
    },
    post: (path, parameters = {}, refundKey) =>
      call('POST', new URL(`/v1${path}`, baseUrl), {
        body: JSON.stringify(parameters),
        headers: {
          'content-type': 'application/json',
          ...(refundKey === undefined ? {} : { 'x-refund-idempotency': refundKey }),
        },
      }),
    patch: (path, parameters) =>
      call('PATCH', new URL(`/v1${path}`, baseUrl), {
        body: JSON.stringify(parameters),
        headers: { 'content-type': 'application/json' },
      }),
  };
}

/** The header by which a key calls. */
export function authorizationOf({ keyId, secretKey }: { keyId: string; secretKey: string }) {
  return { authorization: `Basic ${Buffer.from(`${keyId}:${secretKey}`).toString('base64')}` };
}

/** Refusals that Razorpay tells apart by their description alone, in its published words. docs: providers.md */
const described: readonly [RegExp, string][] = [
  [/greater than amount captured/i, 'amount_over_captured'],
  [/fully refunded already/i, 'already_refunded'],
  [/more than 6 months old/i, 'payment_too_old'],
  [/enough balance/i, 'balance_too_low'],
  [/must be at ?least [A-Z]{3} /i, 'amount_too_small'],
  [/live mode is disabled/i, 'live_mode_disabled'],
  [/merchant is suspended/i, 'account_suspended'],
  [/at ?least 15 minutes/i, 'expiry_too_early'],
  [/does not exist|is not a valid id/i, 'not_there'],
];

function answerOf<T>(status: number, body: Record<string, unknown>): RazorpayAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, error: null };
  if (status === 401 || status === 403) {
    throw new GatewayTurnedAway(
      `razorpay refuses the key of the connection (${status}): check that it is complete and not regenerated`,
    );
  }
  const error = body.error as Record<string, unknown> | undefined;
  if (status < 400 || typeof error?.code !== 'string') {
    throw new GatewayOutcomeUnknown(`razorpay answered ${status} without saying why`);
  }
  const text = (value: unknown) => (typeof value === 'string' && value !== '' && value !== 'NA' ? value : null);
  const known = described.find(([pattern]) => pattern.test(String(error.description)))?.[1];
  return { object: null, error: { reason: known ?? text(error.reason) ?? error.code, field: text(error.field) } };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with the reason. */
export function objectOf<T>(answer: RazorpayAnswer<T>, what: string): T {
  if (answer.error === null) return answer.object;
  throw new GatewayOutcomeUnknown(`razorpay refused to ${what}: ${reasonOf(answer.error)}`);
}

/** A refusal in words that people can look up. */
export function reasonOf({ reason, field }: RazorpayError): string {
  return field === null ? reason : `${reason} (${field})`;
}

const pageSize = 100;

/** All objects of a list, page by page; throws `GatewayOutcomeUnknown` when it does not end within `mostPages`. */
export async function listAll<T>(
  client: RazorpayClient,
  path: string,
  { filter = {}, mostPages = 20 }: { filter?: Record<string, string>; mostPages?: number } = {},
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 0; page < mostPages; page += 1) {
    const query = { ...filter, count: String(pageSize), skip: String(page * pageSize) };
    const answer = await client.get<RazorpayCollection<T>>(path, query);
    const { items } = objectOf(answer, `list ${path}`);
    all.push(...items);
    if (items.length < pageSize) return all;
  }
  throw new GatewayOutcomeUnknown(`razorpay has more than ${mostPages * pageSize} objects of ${path} to look through`);
}

import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { callProvider } from '../provider-call.ts';

/** Version of the interface whose shapes this adapter sends and reads, those of the SDK 23.1.0; an account's own default does not matter. */
export const stripeVersion = '2026-10-28.endive';
export const stripeUrl = 'https://api.stripe.com';

export interface StripeOptions {
  secretKey: string;
  /** A connected account, for which a platform calls. */
  accountId?: string | null;
  /** Instead of Stripe's own address: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number;
}

/** Nested parameters as Stripe takes them; null and undefined are left out. */
export type Parameters = { readonly [name: string]: ParameterValue };
type ParameterValue = string | number | boolean | null | undefined | readonly ParameterValue[] | Parameters;

/** A key that is not known, or that may not do what was asked (403). */
export class StripeKeyRefused extends GatewayOutcomeUnknown {
  readonly isForbidden: boolean;

  constructor(status: 401 | 403) {
    super(`stripe refuses the key of the connection (${status}): check that it is complete and not revoked`);
    this.isForbidden = status === 403;
  }
}

/** An error object of Stripe. The message is not among it: it may name what is nobody's business. */
export interface StripeError {
  type: string;
  code: string | null;
  declineCode: string | null;
  param: string | null;
  /** The id of the payment intent that an error is about. */
  intent: Record<string, unknown> | null;
}

/** A definite answer: an object, or a definite refusal. */
export type StripeAnswer<T> = { object: T; error: null } | { object: null; error: StripeError };

export interface StripeClient {
  get<T>(path: string, parameters?: Parameters): Promise<StripeAnswer<T>>;
  post<T>(path: string, parameters: Parameters, idempotencyKey: string | null): Promise<StripeAnswer<T>>;
}

/**
 * Calls Stripe. A key that is refused, or an answer of Stripe about itself, is no answer about money and throws `GatewayOutcomeUnknown`,
 * as everything does that is not definite.
 */
export function stripeClient(options: StripeOptions): StripeClient {
  const { secretKey, accountId, baseUrl = stripeUrl, deadlineMs } = options;
  const call = async <T>(
    method: 'GET' | 'POST',
    path: string,
    parameters: Parameters,
    key: string | null,
  ): Promise<StripeAnswer<T>> => {
    const url = new URL(`/v1${path}`, baseUrl);
    const encoded = encodeParameters(parameters);
    if (method === 'GET') url.search = encoded;
    const { status, body } = await callProvider({
      provider: 'stripe',
      method,
      url,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'stripe-version': stripeVersion,
        ...(accountId ? { 'stripe-account': accountId } : {}),
        ...(key === null ? {} : { 'idempotency-key': key }),
        ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      ...(method === 'POST' ? { body: encoded } : {}),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
    return answerOf<T>(status, body);
  };
  return {
    get: (path, parameters = {}) => call('GET', path, parameters, null),
    post: (path, parameters, key) => call('POST', path, parameters, key),
  };
}

function answerOf<T>(status: number, body: Record<string, unknown>): StripeAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, error: null };
  if (status === 401 || status === 403) {
    throw new StripeKeyRefused(status);
  }
  const error = body.error as Record<string, unknown> | undefined;
  if (status < 400 || typeof error?.type !== 'string') {
    throw new GatewayOutcomeUnknown(`stripe answered ${status} without saying why`);
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    object: null,
    error: {
      type: error.type,
      code: text(error.code),
      declineCode: text(error.decline_code),
      param: text(error.param),
      intent: (error.payment_intent as Record<string, unknown> | undefined) ?? null,
    },
  };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with the error's own code. */
export function objectOf<T>(answer: StripeAnswer<T>, what: string): T {
  if (answer.error === null) return answer.object;
  throw new GatewayOutcomeUnknown(`stripe refused to ${what}: ${reasonOf(answer.error)}`);
}

/** A code that people can look up at Stripe. */
export function reasonOf(error: StripeError): string {
  const code = error.declineCode ?? error.code ?? error.type;
  return error.param === null ? code : `${code} (${error.param})`;
}

function encodeParameters(parameters: Parameters): string {
  const encoded = new URLSearchParams();
  const add = (name: string, value: ParameterValue): void => {
    if (value === null || value === undefined) return;
    if (typeof value !== 'object') encoded.append(name, String(value));
    else for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
  };
  for (const [name, value] of Object.entries(parameters)) add(name, value);
  return encoded.toString();
}

/** All objects of a list, page by page; throws `GatewayOutcomeUnknown` when it does not end within `mostPages`. */
export async function listAll<T extends { id: string }>(
  client: StripeClient,
  path: string,
  parameters: Parameters,
  mostPages = 20,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 0; page < mostPages; page += 1) {
    const after = all.at(-1)?.id;
    const answer = await client.get<{ data: T[]; has_more: boolean }>(path, {
      ...parameters,
      limit: 100,
      starting_after: after,
    });
    const { data, has_more } = objectOf(answer, `list ${path}`);
    all.push(...data);
    if (!has_more) return all;
  }
  throw new GatewayOutcomeUnknown(`stripe has more than ${mostPages * 100} objects of ${path} to look through`);
}

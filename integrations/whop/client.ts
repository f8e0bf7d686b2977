import { GatewayOutcomeUnknown, GatewayTurnedAway } from '../payment-gateway.ts';
import { callProvider, type ProviderAnswer } from '../provider-call.ts';
import type { WhopPage } from './shapes.ts';

/** Version of the interface whose shapes are sent and read, that of the SDK 0.0.42. */
export const whopVersion = '2026-07-20';
/** Addresses of Whop: that where money moves, and its sandbox. A key is known at one of them and looks alike at both. */
export const whopHosts = { live: 'https://api.whop.com', test: 'https://sandbox-api.whop.com' } as const;

export interface WhopOptions {
  apiKey: string;
  /** Account that the key is of, `biz_…`. */
  companyId: string;
  /** Product that what is sold belongs to; null for none. */
  productId?: string | null;
  /** Addresses that are asked in this order until one knows the key; Whop's own where absent. */
  hosts?: readonly string[] | undefined;
  deadlineMs?: number | undefined;
}

type Query = Readonly<Record<string, string | readonly string[]>>;

interface Asked {
  query?: Query;
  body?: object;
  idempotencyKey?: string;
}

/** A definite answer: an object, or a refusal with a code that people can look up at Whop. */
export type WhopAnswer<T> =
  | { object: T; refusal: null; status: number }
  | { object: null; refusal: string; status: number };

export interface WhopClient {
  readonly companyId: string;
  readonly productId: string | null;
  get<T>(path: string, query?: Query): Promise<WhopAnswer<T>>;
  post<T>(path: string, body: object, idempotencyKey: string): Promise<WhopAnswer<T>>;
  patch<T>(path: string, body: object): Promise<WhopAnswer<T>>;
  delete(path: string): Promise<WhopAnswer<unknown>>;
}

/** Sends one request to one address of Whop, whatever it answers. */
export function askWhop(
  { apiKey, deadlineMs }: Pick<WhopOptions, 'apiKey' | 'deadlineMs'>,
  host: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  { query = {}, body, idempotencyKey }: Asked = {},
): Promise<ProviderAnswer> {
  const url = new URL(`/api/v1${path}`, host);
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string') url.searchParams.set(name, value);
    else for (const each of value) url.searchParams.append(`${name}[]`, each);
  }
  return callProvider({
    provider: 'whop',
    method,
    url,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'api-version-date': whopVersion,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

/**
 * Calls Whop for one account. A key that no address knows, and an answer of Whop about itself, is no answer about money and throws
 * `GatewayOutcomeUnknown`, as everything does that is not definite.
 */
export function whopClient(options: WhopOptions): WhopClient {
  let hosts: readonly string[] = options.hosts ?? Object.values(whopHosts);
  const call = async <T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, asked: Asked = {}) => {
    // An address that does not know the key does nothing, so that the next may be asked.
    for (const host of hosts) {
      const answer = await askWhop(options, host, method, path, asked);
      if (answer.status === 401) continue;
      hosts = [host];
      return answerOf<T>(answer);
    }
    throw new GatewayTurnedAway(
      'whop refuses the key of the connection (401): check that it is complete and not revoked',
    );
  };
  return {
    companyId: options.companyId,
    productId: options.productId || null,
    get: (path, query = {}) => call('GET', path, { query }),
    post: (path, body, idempotencyKey) => call('POST', path, { body, idempotencyKey }),
    patch: (path, body) => call('PATCH', path, { body }),
    delete: (path) => call('DELETE', path),
  };
}

function answerOf<T>({ status, body }: ProviderAnswer): WhopAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, refusal: null, status };
  if (status === 403) {
    throw new GatewayTurnedAway('the key of the connection may not do this at whop (403): give it the permissions');
  }
  const error = body.error as Record<string, unknown> | undefined;
  const code = error?.code ?? error?.type;
  if (status < 400 || typeof code !== 'string') {
    throw new GatewayOutcomeUnknown(`whop answered ${status} without saying why`);
  }
  return { object: null, refusal: code, status };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with Whop's own code. */
export function objectOf<T>(answer: WhopAnswer<T>, what: string): T {
  if (answer.refusal === null) return answer.object;
  throw new GatewayOutcomeUnknown(`whop refused to ${what}: ${answer.refusal}`);
}

const pageSize = 100;

/** All objects of a list, page by page; throws `GatewayOutcomeUnknown` when it does not end within `mostPages`. */
export async function listAll<T>(client: WhopClient, path: string, query: Query, mostPages = 20): Promise<T[]> {
  const all: T[] = [];
  let after: string | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const place: Query = after === null ? {} : { after };
    const answer: WhopAnswer<WhopPage<T>> = await client.get(path, { ...query, first: String(pageSize), ...place });
    const { data, page_info } = objectOf(answer, `list ${path}`);
    all.push(...data);
    after = page_info.has_next_page ? page_info.end_cursor : null;
    if (after === null) return all;
  }
  throw new GatewayOutcomeUnknown(`whop has more than ${mostPages * pageSize} objects of ${path} to look through`);
}

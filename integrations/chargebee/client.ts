import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { callProvider, type ProviderAnswer } from '../provider-call.ts';
import type { ChargebeeList } from './shapes.ts';

export interface ChargebeeOptions {
  /** Name of the site, the first label of its address. */
  site: string;
  apiKey: string;
  /** Instead of the site's own address: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number | undefined;
}

/** A definite answer: an object, or a refusal by Chargebee's own code of it. */
export type ChargebeeAnswer<T> = { object: T; refusal: null } | { object: null; refusal: ChargebeeRefusal };

export interface ChargebeeRefusal {
  code: string;
  /** The code with the parameter it is about, in words that people can look up. */
  text: string;
}

/** Parameters by their names on the wire, as `customer[id]`. */
export type ChargebeeParameters = Record<string, string>;

export interface ChargebeeClient {
  get<T>(path: string, query?: ChargebeeParameters): Promise<ChargebeeAnswer<T>>;
  /** `key` is the idempotency key, by which Chargebee knows a request for 30 minutes. */
  post<T>(path: string, parameters?: ChargebeeParameters, key?: string): Promise<ChargebeeAnswer<T>>;
}

/** Age from which on nothing is sent again: Chargebee forgets a key after 30 minutes. design: money-in-checkout §A2 */
export const resentUntilMs = 25 * 60_000;

/** Sends one request to the site of a connection, whatever it answers. Chargebee sends no e-mails because of it. */
export function askChargebee(
  { site, apiKey, baseUrl, deadlineMs }: ChargebeeOptions,
  method: 'GET' | 'POST',
  path: string,
  { query = {}, parameters, key }: { query?: ChargebeeParameters; parameters?: ChargebeeParameters; key?: string } = {},
): Promise<ProviderAnswer> {
  const url = new URL(`/api/v2${path}`, baseUrl ?? `https://${site}.chargebee.com`);
  url.search = new URLSearchParams(query).toString();
  const posted = { 'content-type': 'application/x-www-form-urlencoded', 'chargebee-event-email': 'all-disabled' };
  return callProvider({
    provider: 'chargebee',
    method,
    url,
    headers: {
      authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
      accept: 'application/json',
      ...(method === 'POST' ? posted : {}),
      ...(key === undefined ? {} : { 'chargebee-idempotency-key': key }),
    },
    ...(parameters === undefined ? {} : { body: new URLSearchParams(parameters).toString() }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

/**
 * Calls Chargebee. A key or site that is refused, or an answer of Chargebee about itself, is no answer about money and throws
 * `GatewayOutcomeUnknown`, as everything does that is not definite.
 */
export function chargebeeClient(options: ChargebeeOptions): ChargebeeClient {
  return {
    get: async (path, query = {}) => answerOf(await askChargebee(options, 'GET', path, { query })),
    post: async (path, parameters = {}, key) =>
      answerOf(await askChargebee(options, 'POST', path, key === undefined ? { parameters } : { parameters, key })),
  };
}

function answerOf<T>({ status, body }: ProviderAnswer): ChargebeeAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, refusal: null };
  const { api_error_code: code, type, param } = body;
  if (status === 401 || status === 403 || code === 'site_not_found') {
    throw new GatewayOutcomeUnknown(
      `chargebee refuses the site or key of the connection (${status}): check that both are complete and the key is not revoked`,
    );
  }
  if (status < 400 || typeof code !== 'string') {
    throw new GatewayOutcomeUnknown(`chargebee answered ${status} without saying why`);
  }
  if (type === 'operation_failed') throw new GatewayOutcomeUnknown(`chargebee could not do what it was asked: ${code}`);
  const text = typeof param === 'string' && param !== '' ? `${code} (${param})` : code;
  return { object: null, refusal: { code, text } };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with Chargebee's own code. */
export function objectOf<T>(answer: ChargebeeAnswer<T>, what: string): T {
  if (answer.refusal === null) return answer.object;
  throw new GatewayOutcomeUnknown(`chargebee refused to ${what}: ${answer.refusal.text}`);
}

const pageSize = '100';

/** All entries of a list, page by page; throws `GatewayOutcomeUnknown` when it does not end within `mostPages`. */
export async function listAll<Entry>(
  client: ChargebeeClient,
  path: string,
  { filter, mostPages = 20 }: { filter: ChargebeeParameters; mostPages?: number },
): Promise<Entry[]> {
  const all: Entry[] = [];
  let query: ChargebeeParameters = { ...filter, limit: pageSize };
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await client.get<ChargebeeList<Entry>>(path, query);
    const { list, next_offset } = objectOf(answer, `list ${path}`);
    all.push(...list);
    if (next_offset === undefined) return all;
    query = { ...query, offset: next_offset };
  }
  throw new GatewayOutcomeUnknown(`chargebee has more than ${mostPages} pages of ${path} to look through`);
}

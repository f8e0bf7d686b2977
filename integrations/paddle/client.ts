import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { callProvider, type ProviderAnswer } from '../provider-call.ts';

const liveUrl = 'https://api.paddle.com';
const sandboxUrl = 'https://sandbox-api.paddle.com';

export interface PaddleOptions {
  apiKey: string;
  /** Instead of Paddle's own addresses: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number | undefined;
}

/** A definite answer: an object, or a refusal with a code that people can look up at Paddle. */
export type PaddleAnswer<T> = { object: T; refusal: null } | { object: null; refusal: string };

export interface PaddleClient {
  get<T>(path: string): Promise<PaddleAnswer<T>>;
  post<T>(path: string, body: object): Promise<PaddleAnswer<T>>;
  patch<T>(path: string, body: object): Promise<PaddleAnswer<T>>;
  /** Objects of a list, page by page, for as long as `wanted` says of the last one. Throws `GatewayOutcomeUnknown` where that does not end. */
  list<T extends { id: string } | { event_id: string }>(
    path: string,
    query: Record<string, string>,
    wanted?: (last: T) => boolean,
  ): Promise<T[]>;
}

/** Whether a key is one of the sandbox, where no money moves. */
export function isSandboxKey(apiKey: string): boolean {
  return apiKey.startsWith('pdl_sdbx_');
}

/** Sends one request to Paddle, whatever it answers. A key of the sandbox is asked at the sandbox. */
export function askPaddle(
  { apiKey, baseUrl = isSandboxKey(apiKey) ? sandboxUrl : liveUrl, deadlineMs }: PaddleOptions,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  { query = {}, body }: { query?: Record<string, string>; body?: object } = {},
): Promise<ProviderAnswer> {
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return callProvider({
    provider: 'paddle',
    method,
    url,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'paddle-version': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

/**
 * Calls Paddle. A key that is refused, or an answer of Paddle about itself, is no answer about money and throws `GatewayOutcomeUnknown`,
 * as everything does that is not definite.
 */
export function paddleClient(options: PaddleOptions): PaddleClient {
  return {
    get: async (path) => answerOf(await askPaddle(options, 'GET', path)),
    post: async (path, body) => answerOf(await askPaddle(options, 'POST', path, { body })),
    patch: async (path, body) => answerOf(await askPaddle(options, 'PATCH', path, { body })),
    list: (path, query, wanted = () => true) => listAll(options, path, query, wanted),
  };
}

function answerOf<T>({ status, body }: ProviderAnswer): PaddleAnswer<T> {
  if (status >= 200 && status < 300) return { object: body.data as T, refusal: null };
  if (status === 401 || status === 403) {
    throw new GatewayOutcomeUnknown(
      `paddle refuses the key of the connection (${status}): check that it is complete, not revoked, and has the permissions`,
    );
  }
  const error = body.error as { code?: unknown; errors?: unknown } | undefined;
  if (status < 400 || typeof error?.code !== 'string') {
    throw new GatewayOutcomeUnknown(`paddle answered ${status} without saying why`);
  }
  const fields = Array.isArray(error.errors) ? error.errors.map((each) => each?.field).filter(Boolean) : [];
  return { object: null, refusal: fields.length === 0 ? error.code : `${error.code} (${fields.join(', ')})` };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with Paddle's own code. */
export function objectOf<T>(answer: PaddleAnswer<T>, what: string): T {
  if (answer.refusal === null) return answer.object;
  throw new GatewayOutcomeUnknown(`paddle refused to ${what}: ${answer.refusal}`);
}

const mostPages = 100;

async function listAll<T extends { id: string } | { event_id: string }>(
  options: PaddleOptions,
  path: string,
  query: Record<string, string>,
  wanted: (last: T) => boolean,
): Promise<T[]> {
  const all: T[] = [];
  let after: string | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const cursor: Record<string, string> = after === null ? {} : { after };
    const answer = await askPaddle(options, 'GET', path, { query: { ...query, ...cursor } });
    const objects = objectOf(answerOf<T[]>(answer), `list ${path}`);
    all.push(...objects);
    const last = objects.at(-1);
    const { pagination } = (answer.body.meta ?? {}) as { pagination?: { has_more?: boolean } };
    if (!last || pagination?.has_more !== true || !wanted(last)) return all;
    after = 'id' in last ? last.id : last.event_id;
  }
  throw new GatewayOutcomeUnknown(`paddle has more than ${mostPages} pages of ${path} to look through`);
}

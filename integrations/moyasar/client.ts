import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { callProvider, type ProviderAnswer } from '../provider-call.ts';

export const moyasarUrl = 'https://api.moyasar.com';

export interface MoyasarOptions {
  secretKey: string;
  /** Instead of Moyasar's own address: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number | undefined;
}

/** A definite answer: an object, or a refusal with a code that people can look up at Moyasar. */
export type MoyasarAnswer<T> =
  | { object: T; refusal: null }
  | { object: null; refusal: string; status: number; fields: readonly string[] };

export interface MoyasarClient {
  get<T>(path: string, query?: Record<string, string>): Promise<MoyasarAnswer<T>>;
  post<T>(path: string, body: object): Promise<MoyasarAnswer<T>>;
  put<T>(path: string, body: object): Promise<MoyasarAnswer<T>>;
}

/** Sends one request to Moyasar, whatever it answers. */
export function askMoyasar(
  { secretKey, baseUrl = moyasarUrl, deadlineMs }: MoyasarOptions,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  { query = {}, body }: { query?: Record<string, string>; body?: object } = {},
): Promise<ProviderAnswer> {
  const url = new URL(`/v1${path}`, baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return callProvider({
    provider: 'moyasar',
    method,
    url,
    headers: {
      authorization: `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

/**
 * Calls Moyasar. A key that is refused, or an answer of Moyasar about itself, is no answer about money and throws
 * `GatewayOutcomeUnknown`, as everything does that is not definite.
 */
export function moyasarClient(options: MoyasarOptions): MoyasarClient {
  return {
    get: async (path, query = {}) => answerOf(await askMoyasar(options, 'GET', path, { query })),
    post: async (path, body) => answerOf(await askMoyasar(options, 'POST', path, { body })),
    put: async (path, body) => answerOf(await askMoyasar(options, 'PUT', path, { body })),
  };
}

function answerOf<T>({ status, body }: ProviderAnswer): MoyasarAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, refusal: null };
  if (status === 401 || status === 403) {
    throw new GatewayOutcomeUnknown(
      `moyasar refuses the key of the connection (${status}): check that it is complete and not revoked`,
    );
  }
  if (status < 400 || typeof body.type !== 'string') {
    throw new GatewayOutcomeUnknown(`moyasar answered ${status} without saying why`);
  }
  const { errors } = body;
  const fields = typeof errors === 'object' && errors !== null ? Object.keys(errors) : [];
  const refusal = fields.length === 0 ? body.type : `${body.type} (${fields.join(', ')})`;
  return { object: null, refusal, status, fields };
}

/** The object of an answer that cannot be a refusal of what was asked. Throws `GatewayOutcomeUnknown` with Moyasar's own code. */
export function objectOf<T>(answer: MoyasarAnswer<T>, what: string): T {
  if (answer.refusal === null) return answer.object;
  throw new GatewayOutcomeUnknown(`moyasar refused to ${what}: ${answer.refusal}`);
}

import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { callProvider, type ProviderAnswer } from '../provider-call.ts';

export const nomodUrl = 'https://api.nomod.com';

export interface NomodOptions {
  apiKey: string;
  /** Instead of Nomod's own address: a fake. */
  baseUrl?: string | undefined;
  deadlineMs?: number | undefined;
}

/** A definite answer: an object, or a refusal with a code that people can look up at Nomod. */
export type NomodAnswer<T> = { object: T; refusal: null } | { object: null; refusal: string };

export interface NomodClient {
  /** Throws `GatewayOutcomeUnknown` for every answer that is no object. */
  get<T>(path: string): Promise<T>;
  /** The object, or null where the key may not see it or the account has none. Throws `GatewayOutcomeUnknown` otherwise. */
  find<T>(path: string): Promise<T | null>;
  post<T>(path: string, body: object): Promise<NomodAnswer<T>>;
}

/** Sends one request to Nomod, whatever it answers. */
export function askNomod(
  { apiKey, baseUrl = nomodUrl, deadlineMs }: NomodOptions,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<ProviderAnswer> {
  return callProvider({
    provider: 'nomod',
    method,
    url: new URL(`/v1${path}`, baseUrl),
    headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

/**
 * Calls Nomod. A key that is refused, an object that the account does not have, or an answer of Nomod about itself is no answer about
 * money and throws `GatewayOutcomeUnknown`, as everything does that is not definite.
 */
export function nomodClient(options: NomodOptions): NomodClient {
  return {
    get: async <T>(path: string) => {
      const answer = answerOf<T>(await askNomod(options, 'GET', path));
      if (answer.refusal === null) return answer.object;
      throw new GatewayOutcomeUnknown(`nomod refused to show an object: ${answer.refusal}`);
    },
    find: async <T>(path: string) => {
      const { status, body } = await askNomod(options, 'GET', path);
      if (status === 401 || status === 403 || status === 404) return null;
      const { object, refusal } = answerOf<T>({ status, body });
      if (object === null) throw new GatewayOutcomeUnknown(`nomod refused to show an object: ${refusal}`);
      return object;
    },
    post: async (path, body) => answerOf(await askNomod(options, 'POST', path, body)),
  };
}

function answerOf<T>({ status, body }: ProviderAnswer): NomodAnswer<T> {
  if (status >= 200 && status < 300) return { object: body as T, refusal: null };
  if (status === 401 || status === 403) {
    throw new GatewayOutcomeUnknown(
      `nomod refuses the key of the connection (${status}): check that it is complete and not revoked`,
    );
  }
  if (status === 404) throw new GatewayOutcomeUnknown('the account at nomod has no such object');
  if (status !== 400 && status !== 422) throw new GatewayOutcomeUnknown(`nomod answered ${status} without saying why`);
  return { object: null, refusal: codeOf(body) };
}

/** Nomod's code of a refusal, else the parameters it names: never its sentence, which may name what is nobody's business. */
function codeOf(body: Readonly<Record<string, unknown>>): string {
  const isCode = (value: unknown): value is string => typeof value === 'string' && /^[a-z_]{1,60}$/.test(value);
  const code = [body.code, body.error_code, body.error].find(isCode);
  const names = Object.keys(body).filter(isCode).slice(0, 10).join(', ');
  return code ?? (names === '' ? 'invalid_request' : `invalid_request (${names})`);
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ApiProblem, type DemoClient } from '../../dev/demo/client.ts';
import type { Random } from './random.ts';

/** What a client saw of the outages. */
export interface ClientCounts {
  requests: number;
  /** Tries without a usable answer, by what came instead: `503 service_unavailable`, `ECONNREFUSED`. */
  retries: Map<string, number>;
  /** Requests sent once more although they had been answered, as when the answer is lost on its way. */
  repeated: number;
}

export interface FaultClient extends DemoClient {
  readonly counts: ClientCounts;
}

const requestLimitMs = 20_000;
/** Longer than several restarts of everything, and the 10 s for which a killed API holds on to a key. */
const patienceMs = 150_000;
const pauseMs = 150;
/** One answer in so many is thrown away and asked for again. */
const lostOneIn = 8;

/**
 * A client that never gives up a request: it sends it again with the same Idempotency-Key until it has an answer. Now and
 * then it loses an answer it has; the answer to the repeated request must then be the same. spec: platform §1.6
 */
export function faultClient(address: string, apiKey: string, random: Random): FaultClient {
  const counts: ClientCounts = { requests: 0, retries: new Map(), repeated: 0 };

  async function answered(url: string, request: RequestInit): Promise<Answer> {
    const end = performance.now() + patienceMs;
    for (let tries = 1; ; tries += 1) {
      const answer = await attempt(url, request);
      if (!isLater(answer, tries)) return answer;
      counts.retries.set(answer.reason, (counts.retries.get(answer.reason) ?? 0) + 1);
      if (performance.now() > end) throw new Error(`${request.method} ${url} got no answer: ${answer.reason}`);
      await delay(pauseMs);
    }
  }

  return {
    counts,
    async send<Body>(method: 'GET' | 'POST', path: string, body?: unknown) {
      counts.requests += 1;
      const headers = { 'x-api-key': apiKey, 'idempotency-key': randomUUID(), 'content-type': 'application/json' };
      const request = {
        method,
        headers,
        ...(body === undefined ? { headers: without(headers) } : { body: JSON.stringify(body) }),
      };
      const url = `${address}/v1${path}`;
      const answer = await answered(url, request);
      if (method === 'POST' && random.whole(lostOneIn) === 0) {
        counts.repeated += 1;
        const again = await answered(url, request);
        if (!isSame(answer, again) && !isUsedKey(again))
          throw new Error(
            `I16 ${method} ${path} was answered ${answer.status} ${answer.text}, then ${again.status} ${again.text}`,
          );
      }
      if (isUsedKey(answer)) return undefined as Body;
      if (answer.status >= 300)
        throw new ApiProblem(answer.status, `${method} ${path}: ${answer.status} ${answer.text}`);
      return (answer.text === '' ? undefined : JSON.parse(answer.text)) as Body;
    },
  };
}

interface Answer {
  /** 0 when none came. */
  status: number;
  text: string;
  reason: string;
}

async function attempt(url: string, request: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(requestLimitMs) });
    const text = await response.text();
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
    return { status: response.status, text, reason: `${response.status} ${code}` };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { status: 0, text: '', reason: cause?.code ?? name };
  }
}

function isLater({ status, text }: Answer, tries: number): boolean {
  // A request whose answer was lost may still be at work.
  const isUnderWay = tries > 1 && status === 409 && text.includes('Idempotency-Key is under way');
  return status === 0 || status === 429 || status >= 500 || isUnderWay;
}

/**
 * A request with an `idempotency_key` in its body, repeated: it is refused, since the first was done. The keys of these requests are
 * used by nothing else. spec: wallets-and-payments §3 row 15
 */
function isUsedKey({ status, text }: Answer): boolean {
  return status === 409 && text.includes('idempotency_key was used');
}

function isSame(one: Answer, other: Answer): boolean {
  return (
    one.status === other.status &&
    (one.text === other.text || isDeepStrictEqual(JSON.parse(one.text), JSON.parse(other.text)))
  );
}

function without<Headers extends Record<string, string>>({
  'content-type': _,
  ...headers
}: Headers): Record<string, string> {
  return headers;
}

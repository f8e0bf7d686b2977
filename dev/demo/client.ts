import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The public HTTP API with a key, as any program outside uses it. */
export interface DemoClient {
  /** Sends to `/v1` + path and returns the body of the answer. Throws an ApiProblem for a refusal. */
  send<Body>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<Body>;
}

/** A request the API refused. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Together with the pauses this outlasts a restart and the 10 s for which a killed API holds on to a key. */
const maxTries = 20;
const firstPauseMs = 100;
const maxPauseMs = 3_000;

/**
 * A client that rides out a restart: a request without an answer, or with one that says "later", is sent again with the
 * same Idempotency-Key, so that it takes effect once.
 */
export function demoClient(address: string, apiKey: string): DemoClient {
  const base = `${address.replace(/\/(v1\/?)?$/, '')}/v1`;
  return {
    async send<Body>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) {
      const request: RequestInit = {
        method,
        headers: {
          'x-api-key': apiKey,
          'idempotency-key': randomUUID(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      const { status, text } = await answerOf(`${base}${path}`, request);
      if (status >= 300) throw new ApiProblem(status, `${method} ${path} was answered ${status}: ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as Body;
    },
  };
}

async function answerOf(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
  for (let tries = 1; ; tries += 1) {
    const isLast = tries === maxTries;
    try {
      const response = await fetch(url, request);
      const text = await response.text();
      if (isLast || !(isLater(response.status) || (tries > 1 && isUnderWay(response.status, text)))) {
        return { status: response.status, text };
      }
    } catch (error) {
      if (isLast) throw new Error(`${url} does not answer`, { cause: error });
    }
    await delay(Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs));
  }
}

function isLater(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

/** The request of an earlier try, whose answer was lost, may still be at work. */
function isUnderWay(status: number, text: string): boolean {
  return status === 409 && text.includes('Idempotency-Key is under way');
}

/** Runs `work` on all items, at most `limit` at a time, and returns the results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const lane = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Operation } from '../operations.ts';

/** Report of the bridge on one request. */
interface Told {
  operation: string | null;
  fault: string | null;
  status: number;
  type: string;
  text: string;
}

/** Answered as bare arrays, which newer versions of the client declare as lists. spec: decision 9 */
const arrays = new Set(['getTaxRates', 'getSubscriptionAddonAssociations']);

/** The published Python client as a `fetch` for the TypeScript client: Python sends each request and reads its answer first. */
export async function pythonFetcher(python: string, address: string, apiKey: string) {
  const bridge = new URL('./bridge.py', import.meta.url).pathname;
  const child = spawn(python, [bridge, address, apiKey], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  /** Fate of each request since `forget`: null was said and read by Python, else why not. */
  const told = new Map<string, string | null>();
  let turn: Promise<unknown> = Promise.resolve();

  const ask = async (request: object): Promise<Told> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the Python client ended');
    return JSON.parse(value as string) as Told;
  };
  const fetcher = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const text = await request.clone().text();
    const query: Record<string, string | string[]> = {};
    for (const name of new Set(url.searchParams.keys())) {
      const values = url.searchParams.getAll(name);
      query[name] = values.length === 1 ? (values[0] ?? '') : values;
    }
    const path = decodeURIComponent(url.pathname.replace(/^\/v1/, ''));
    const asked = { method: request.method, path, query, body: text === '' ? null : JSON.parse(text) };
    const answer = turn.then(() => ask(asked));
    turn = answer.catch(() => undefined);
    const { operation, fault, status, type, text: read } = await answer;
    const spoken = `${request.method} ${path}`;
    if (operation === null) {
      told.set(spoken, 'this version of the client cannot say it');
      return fetch(request);
    }
    const isArray = fault !== null && arrays.has(operation);
    if (fault !== null && !isArray) throw new Error(`${spoken}: ${fault}`);
    told.set(spoken, isArray ? 'this version of the client reads a list, not the array' : null);
    const headers = type === '' ? {} : { 'content-type': type };
    return new Response(status === 204 ? null : read, { status, headers });
  };
  /** Reason for which no request of an operation was said and read by Python; null when one was. */
  const unsaid = ({ method, path }: Operation): string | null => {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
    const own = [...told].filter(([spoken]) => pattern.test(spoken)).map(([, reason]) => reason);
    return own.includes(null) ? null : (own[0] ?? null);
  };
  return { fetcher, unsaid, forget: () => told.clear(), close: () => child.stdin.end() };
}

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What the bridge tells of one request. */
interface Told {
  operation: string | null;
  fault: string | null;
  status: number;
  type: string;
  text: string;
}

/** Answered as bare arrays, which newer versions of the client declare as lists. spec: decision 9 */
const arrays = new Set(['getTaxRates', 'getSubscriptionAddonAssociations']);

/** What the table cannot tell is kept for the end of it. */
function note(text: string): void {
  if (process.env.CONFORMANCE_NOTES) appendFileSync(process.env.CONFORMANCE_NOTES, `${text}\n`);
}

/** The published Python client as a `fetch` for the TypeScript client: Python sends each request and reads its answer first. */
export async function pythonFetcher(python: string, address: string, apiKey: string) {
  const bridge = new URL('./bridge.py', import.meta.url).pathname;
  const child = spawn(python, [bridge, address, apiKey], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
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
    const told = await answer;
    const spoken = `${request.method} ${path}`;
    if (told.operation === null) {
      note(`${spoken}: this version cannot say it; sent as it was`);
      return fetch(request);
    }
    if (told.fault !== null && arrays.has(told.operation))
      note(`${spoken}: this version reads a list, and not the array`);
    else if (told.fault !== null) throw new Error(`${request.method} ${path}: ${told.fault}`);
    const headers = told.type === '' ? {} : { 'content-type': told.type };
    return new Response(told.status === 204 ? null : told.text, { status: told.status, headers });
  };
  return { fetcher, close: () => child.stdin.end() };
}

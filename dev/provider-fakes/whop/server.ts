import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whopVersion } from '../../../integrations/whop/client.ts';
import type { FakeAccounts } from '../shell.ts';
import { type FakeEvent, invalid, WhopBooks, WhopRefusal } from './books.ts';
import { callOf, type FakeCall } from './calls.ts';
import { hostedPage } from './page.ts';
import { isWaiting, payPage, planOf } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type WhopFault = 'unreachable' | 'loses_answer' | '401' | '429' | '500' | 'html' | 'half' | 'hang';

export interface WhopFake extends FakeAccounts {
  readonly url: string;
  /** The books of an account, `biz_NAME`, whose keys are `apik_NAME` and `apik_NAME_…`. */
  booksOf(accountId: string): WhopBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: WhopFault, times?: number): void;
  /** Calls of a kind go right again. */
  mend(kind: FakeCall['kind']): void;
  /** Number of calls of a kind that came in. */
  calls(kind: FakeCall['kind']): number;
  /** Done just before the next call of a kind: something else reaches Whop first. */
  beforeNext(kind: FakeCall['kind'], happens: () => void): void;
  /** Told of every event of every account, in order, as Whop would send it. */
  onEvent(listener: (accountId: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, WhopBooks>;
  faults: { kind: string; how: WhopFault; remaining: number }[];
  before: { kind: string; happens: () => void }[];
  calls: Map<string, number>;
  listeners: ((accountId: string, event: FakeEvent) => void)[];
  url: string;
}

/**
 * A Whop that moves no money: the calls that the adapter makes, strict about parameters, permissions and idempotency keys, and a page on
 * which the sandbox's test cards pay. Its books last as long as its process. docs: providers.md
 */
export async function startWhopFake(options: { port?: number; host?: string } = {}): Promise<WhopFake> {
  const world: World = { books: new Map(), faults: [], before: [], calls: new Map(), listeners: [], url: '' };
  const server = createServer((request, response) => {
    handle(world, request, response).catch(() => response.destroy());
  });
  const { host = '127.0.0.1', port = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  world.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url: world.url,
    booksOf: (accountId) => booksOf(world, accountId),
    accounts: () => [...world.books.values()],
    failNext: (kind, how, times = 1) => void world.faults.push({ kind, how, remaining: times }),
    mend: (kind) => void world.faults.splice(0, Infinity, ...world.faults.filter((each) => each.kind !== kind)),
    calls: (kind) => world.calls.get(kind) ?? 0,
    beforeNext: (kind, happens) => void world.before.push({ kind, happens }),
    onEvent: (listener) => void world.listeners.push(listener),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function booksOf(world: World, accountId: string): WhopBooks {
  const known = world.books.get(accountId);
  if (known) return known;
  const books = new WhopBooks(accountId);
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(accountId, event);
  };
  world.books.set(accountId, books);
  return books;
}

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', world.url);
  const text = await textOf(request);
  const method = request.method ?? 'GET';
  if (!url.pathname.startsWith('/api/v1/')) return pageOf(world, method, url, text, response);
  const name = /^Bearer apik_([A-Za-z0-9]+)(_\w+)?$/.exec(request.headers.authorization ?? '')?.[1];
  if (name === undefined) return send(response, 401, refusal('unauthorized'));
  const books = booksOf(world, `biz_${name}`);
  const given = request.headers['idempotency-key'];
  const idempotencyKey = typeof given === 'string' ? given : null;
  const call = callOf(books, method, url, text === '' ? {} : JSON.parse(text), {
    pageUrl: world.url,
    idempotencyKey,
    holderOf: (id) => [...world.books.values()].find(({ configurations }) => configurations.has(id)) ?? null,
  });
  if (!call) return send(response, 404, refusal('not_found'));
  world.calls.set(call.kind, (world.calls.get(call.kind) ?? 0) + 1);
  const first = world.before.findIndex(({ kind }) => kind === call.kind);
  if (first >= 0) world.before.splice(first, 1)[0]!.happens();
  const fault = takeFault(world, call.kind);
  if (fault === 'hang') return;
  if (fault === 'unreachable' || isLost(books, call, url, 'unreachable_times')) return void response.destroy();
  if (fault === '401' || fault === '429' || fault === '500') return send(response, Number(fault), refusal('fault'));
  const version = request.headers['api-version-date'];
  const { status, answer } = answerOf(books, call, { version, idempotencyKey, asked: `${url.pathname} ${text}` });
  if (fault === 'loses_answer' || isLost(books, call, url, 'refund_loses_answer')) return void response.destroy();
  if (fault === 'html')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
  if (fault === 'half') return sendHalf(response, answer);
  if (answer === null) return void response.writeHead(status).end();
  send(response, status, answer);
}

function refusal(code: string) {
  return new WhopRefusal(400, code).body;
}

/** Whether the card of a payment loses a request of its refund before it, or the answer behind it. */
function isLost(
  books: WhopBooks,
  call: FakeCall,
  url: URL,
  behaviour: 'unreachable_times' | 'refund_loses_answer',
): boolean {
  const card = books.cards.get(url.pathname.split('/')[4] ?? '');
  if (call.kind !== 'refund' || card?.behaviour !== behaviour) return false;
  if (behaviour === 'refund_loses_answer') return true;
  card.count -= 1;
  return card.count >= 0;
}

interface AskedWith {
  version: string | string[] | undefined;
  idempotencyKey: string | null;
  /** Path and body. */
  asked: string;
}

/** A repeated key is answered as before, where the first request succeeded; with other parameters it is refused. */
function answerOf(
  books: WhopBooks,
  call: FakeCall,
  { version, idempotencyKey, asked }: AskedWith,
): { status: number; answer: unknown } {
  const key = call.isKeyed ? idempotencyKey : null;
  try {
    if (version !== whopVersion) throw invalid('Api-Version-Date is missing');
    if (idempotencyKey !== null && idempotencyKey.length > 255) throw invalid('Idempotency-Key is too long');
    const known = key === null ? undefined : books.answers.get(key);
    if (known && known.asked !== asked) throw new WhopRefusal(400, 'idempotency_key_mismatch');
    if (known) return { status: 200, answer: known.body };
    const answer = structuredClone(call.answer());
    if (key !== null) books.answers.set(key, { asked, body: answer });
    return { status: 200, answer };
  } catch (error) {
    if (!(error instanceof WhopRefusal)) throw error;
    return { status: error.status, answer: error.body };
  }
}

function takeFault(world: World, kind: string): WhopFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page behind the address of a configuration. */
function pageOf(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = url.searchParams.get('session') ?? '';
  const books = [...world.books.values()].find(({ configurations }) => configurations.has(id));
  const configuration = books?.configurations.get(id);
  if (!books || !configuration || books.deleted.has(id) || !url.pathname.startsWith('/checkout/'))
    return void response.writeHead(404).end('No such page');
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payPage(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof WhopRefusal)) throw error;
    outcome = 'no test card';
  }
  const plan = planOf(books, configuration.plan.id);
  const isOver = method === 'POST' && (plan.stock < 1 || books.paymentsOf(id).some(isWaiting));
  if (isOver) response.writeHead(303, { location: configuration.redirect_url }).end();
  else
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(hostedPage(plan, configuration, outcome));
}

function sendHalf(response: ServerResponse, answer: unknown): void {
  const text = JSON.stringify(answer);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

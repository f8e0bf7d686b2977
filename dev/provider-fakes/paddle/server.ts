import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakeAccounts } from '../shell.ts';
import { type FakeEvent, PaddleBooks, PaddleRefusal } from './books.ts';
import { callOf, type FakeCall } from './calls.ts';
import { fakeScript, hostedPage } from './page.ts';
import { begin, isPayable, payTransaction, transactionOf } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type PaddleFault = 'unreachable' | 'loses_answer' | '403' | '429' | '500' | 'html' | 'half' | 'hang';

export interface PaddleFake extends FakeAccounts {
  readonly url: string;
  /** The books of the account that a key belongs to. */
  booksOf(apiKey: string): PaddleBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: PaddleFault, times?: number): void;
  /** Done just before the next call of a kind: something else reaches Paddle first. */
  beforeNext(kind: FakeCall['kind'], happens: () => void): void;
  /** Told of every event of every account by its key, in order, as Paddle would send it. */
  onEvent(listener: (apiKey: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, PaddleBooks>;
  faults: { kind: string; how: PaddleFault; remaining: number }[];
  before: { kind: string; happens: () => void }[];
  listeners: ((apiKey: string, event: FakeEvent) => void)[];
  url: string;
}

/**
 * A Paddle that moves no money: one account a key, the calls that the adapter makes, strict about parameters, a script for our page, and a
 * page on which the sandbox's test cards pay. Its books last as long as its process. docs: providers.md
 */
export async function startPaddleFake(options: { port?: number; host?: string } = {}): Promise<PaddleFake> {
  const world: World = { books: new Map(), faults: [], before: [], listeners: [], url: '' };
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
    booksOf: (apiKey) => booksOf(world, apiKey),
    accounts: () => [...world.books.values()],
    failNext: (kind, how, times = 1) => void world.faults.push({ kind, how, remaining: times }),
    beforeNext: (kind, happens) => void world.before.push({ kind, happens }),
    onEvent: (listener) => void world.listeners.push(listener),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function booksOf(world: World, apiKey: string): PaddleBooks {
  const known = world.books.get(apiKey);
  if (known) return known;
  const books = new PaddleBooks();
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(apiKey, event);
  };
  world.books.set(apiKey, books);
  return books;
}

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', world.url);
  const text = await textOf(request);
  const method = request.method ?? 'GET';
  if (url.pathname === '/paddle/v2/paddle.js')
    return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(fakeScript);
  if (url.pathname.startsWith('/pay/')) return pageOf(world, method, url, text, response);
  const key = /^Bearer (pdl_sdbx_\w+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (key === undefined) return send(response, 403, new PaddleRefusal(403, 'invalid_token').body);
  if (request.headers['paddle-version'] !== '1')
    return send(response, 400, new PaddleRefusal(400, 'unsupported_version').body);
  const books = booksOf(world, key);
  const call = callOf(books, method, url, text === '' ? {} : JSON.parse(text));
  if (!call) return send(response, 404, new PaddleRefusal(404, 'not_found').body);
  const first = world.before.findIndex(({ kind }) => kind === call.kind);
  if (first >= 0) world.before.splice(first, 1)[0]!.happens();
  const fault = takeFault(world, call.kind);
  const transactionId = call.kind === 'refund' ? String(JSON.parse(text).transaction_id) : '';
  if (fault === 'hang') return;
  if (fault === 'unreachable' || isLost(books, transactionId, 'unreachable_times')) return void response.destroy();
  if (fault === '403' || fault === '429' || fault === '500')
    return send(response, Number(fault), new PaddleRefusal(Number(fault), 'fault').body);
  const { status, answer } = answerOf(call);
  if (fault === 'loses_answer' || isLost(books, transactionId, 'refund_loses_answer')) return void response.destroy();
  if (fault === 'html')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
  if (fault === 'half') return sendHalf(response, answer);
  send(response, status, answer);
}

/** Whether the card of a transaction loses a request of its refund before it, or the answer behind it. */
function isLost(books: PaddleBooks, id: string, behaviour: 'unreachable_times' | 'refund_loses_answer'): boolean {
  const card = books.cards.get(id);
  if (card?.behaviour !== behaviour) return false;
  if (behaviour === 'refund_loses_answer') return true;
  card.count -= 1;
  return card.count >= 0;
}

function answerOf(call: FakeCall): { status: number; answer: unknown } {
  try {
    const isMade = call.kind === 'open' || call.kind === 'refund';
    return { status: isMade ? 201 : 200, answer: structuredClone({ meta: {}, ...call.answer() }) };
  } catch (error) {
    if (!(error instanceof PaddleRefusal)) throw error;
    return { status: error.status, answer: error.body };
  }
}

function takeFault(world: World, kind: string): PaddleFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page of a transaction, which only a browser with a client-side token gets to see. */
function pageOf(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = url.pathname.slice('/pay/'.length);
  const books = [...world.books.values()].find((each) => each.transactions.has(id));
  const [token, back] = [url.searchParams.get('token') ?? '', url.searchParams.get('back') ?? ''];
  if (!books || !/^test_\w+$/.test(token) || !/^https?:\/\//.test(back))
    return void response.writeHead(404).end('No such page');
  let outcome: string | null = null;
  const transaction = transactionOf(books, id);
  try {
    if (method === 'POST') outcome = payTransaction(books, id, new URLSearchParams(body).get('card_number') ?? '');
    else if (isPayable(transaction)) begin(books, transaction);
  } catch (error) {
    if (!(error instanceof PaddleRefusal)) throw error;
    outcome = 'no test card';
  }
  const isOver = method === 'POST' && (!isPayable(transaction) || outcome === 'pending_no_action_required');
  if (isOver) response.writeHead(303, { location: back }).end();
  else
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(hostedPage(transaction, back, outcome));
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

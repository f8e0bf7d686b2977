import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeEvent, MoyasarBooks, MoyasarRefusal } from './books.ts';
import { callOf, type FakeCall } from './calls.ts';
import { hostedPage } from './page.ts';
import { invoiceOf, payInvoice } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type MoyasarFault = 'unreachable' | 'loses_answer' | '401' | '429' | '500' | 'html' | 'half' | 'hang';

export interface MoyasarFake {
  readonly url: string;
  /** The books of the account that a key belongs to. */
  booksOf(secretKey: string): MoyasarBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: MoyasarFault, times?: number): void;
  /** Done just before the next call of a kind: something else reaches Moyasar first. */
  beforeNext(kind: FakeCall['kind'], happens: () => void): void;
  /** Told of every event of every account by its key, in order, as Moyasar would send it. */
  onEvent(listener: (secretKey: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, MoyasarBooks>;
  faults: { kind: string; how: MoyasarFault; remaining: number }[];
  before: { kind: string; happens: () => void }[];
  listeners: ((secretKey: string, event: FakeEvent) => void)[];
  url: string;
}

/**
 * A Moyasar that moves no money: one account a key, the calls that the adapter makes, strict about parameters, and a page on which the
 * sandbox's test cards pay. Its books last as long as its process. docs: providers.md
 */
export async function startMoyasarFake(options: { port?: number; host?: string } = {}): Promise<MoyasarFake> {
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
    booksOf: (secretKey) => booksOf(world, secretKey),
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

function booksOf(world: World, secretKey: string): MoyasarBooks {
  const known = world.books.get(secretKey);
  if (known) return known;
  const books = new MoyasarBooks();
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(secretKey, event);
  };
  world.books.set(secretKey, books);
  return books;
}

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', world.url);
  const text = await textOf(request);
  const method = request.method ?? 'GET';
  if (!url.pathname.startsWith('/v1/')) return pageOf(world, method, url, text, response);
  const key = keyOf(request);
  if (key === null)
    return send(response, 401, { type: 'authentication_error', message: 'Invalid API Key', errors: null });
  const books = booksOf(world, key);
  const body = text === '' ? {} : JSON.parse(text);
  const call = callOf(books, method, url, body, world.url);
  if (!call) return send(response, 404, { type: 'invalid_request_error', message: 'Not found', errors: null });
  const first = world.before.findIndex(({ kind }) => kind === call.kind);
  if (first >= 0) world.before.splice(first, 1)[0]!.happens();
  const fault = takeFault(world, call.kind);
  if (fault === 'hang') return;
  if (fault === 'unreachable' || isLost(books, call, url, 'unreachable_times')) return void response.destroy();
  if (fault === '401' || fault === '429' || fault === '500')
    return send(response, Number(fault), { type: 'api_error', message: 'Fault', errors: null });
  const { status, answer } = answerOf(call);
  if (fault === 'loses_answer' || isLost(books, call, url, 'refund_loses_answer')) return void response.destroy();
  if (fault === 'html')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
  if (fault === 'half') return sendHalf(response, answer);
  send(response, status, answer);
}

/** The secret key of a request: HTTP Basic with an empty password. */
function keyOf(request: IncomingMessage): string | null {
  const encoded = /^Basic ([\w+/=]+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  return /^(sk_test_\w+):$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1] ?? null;
}

/** Whether the card of a payment loses a request of its refund before it, or the answer behind it. */
function isLost(
  books: MoyasarBooks,
  call: FakeCall,
  url: URL,
  behaviour: 'unreachable_times' | 'refund_loses_answer',
): boolean {
  const card = books.cards.get(url.pathname.split('/')[3] ?? '');
  if (call.kind !== 'refund' || card?.behaviour !== behaviour) return false;
  if (behaviour === 'refund_loses_answer') return true;
  card.count -= 1;
  return card.count >= 0;
}

function answerOf(call: FakeCall): { status: number; answer: unknown } {
  try {
    return { status: call.kind === 'open' ? 201 : 200, answer: structuredClone(call.answer()) };
  } catch (error) {
    if (!(error instanceof MoyasarRefusal)) throw error;
    return { status: error.status, answer: error.body };
  }
}

function takeFault(world: World, kind: string): MoyasarFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page behind an invoice's address. */
function pageOf(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = /^\/pay\/([\w-]+)$/.exec(url.pathname)?.[1];
  const books = [...world.books.values()].find((each) => id !== undefined && each.invoices.has(id));
  if (!books || id === undefined) return void response.writeHead(404).end('No such page');
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payInvoice(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof MoyasarRefusal)) throw error;
    outcome = 'no test card';
  }
  const invoice = invoiceOf(books, id);
  const isOver = method === 'POST' && (invoice.status !== 'initiated' || outcome === 'initiated');
  if (isOver) response.writeHead(303, { location: invoice.success_url }).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(hostedPage(invoice, outcome));
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

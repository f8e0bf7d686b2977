import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakeAccounts } from '../shell.ts';
import { ChargebeeBooks, ChargebeeRefusal, type FakeEvent, invalid } from './books.ts';
import { callOf, type FakeCall, type FakeRequest } from './calls.ts';
import { hostedPage } from './page.ts';
import { isPayable, pageOf, payPage } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type ChargebeeFault =
  | 'unreachable'
  | 'loses_answer'
  | '401'
  | '429'
  | '500'
  | 'site_not_found'
  | 'operation_failed'
  | 'html'
  | 'half'
  | 'hang';

export interface ChargebeeFake extends FakeAccounts {
  readonly url: string;
  /** The books of the site that a key belongs to. */
  booksOf(apiKey: string): ChargebeeBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: ChargebeeFault, times?: number): void;
  /** Done just before the next call of a kind: something else reaches Chargebee first. */
  beforeNext(kind: FakeCall['kind'], happens: () => void): void;
  /** Told of every event of every site by its key, in order, as Chargebee would send it. */
  onEvent(listener: (apiKey: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, ChargebeeBooks>;
  faults: { kind: string; how: ChargebeeFault; remaining: number }[];
  before: { kind: string; happens: () => void }[];
  listeners: ((apiKey: string, event: FakeEvent) => void)[];
  url: string;
}

/** Time for which an idempotency key is known. */
const keyLifeMs = 30 * 60_000;

/**
 * A Chargebee that moves no money: one site a key, the calls that the adapter makes, strict about parameters and idempotency keys, and a page
 * on which the sandbox's test cards pay, which nobody can close. Its books last as long as its process. docs: providers.md
 */
export async function startChargebeeFake(options: { port?: number; host?: string } = {}): Promise<ChargebeeFake> {
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

function booksOf(world: World, apiKey: string): ChargebeeBooks {
  const known = world.books.get(apiKey);
  if (known) return known;
  const books = new ChargebeeBooks();
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(apiKey, event);
  };
  world.books.set(apiKey, books);
  return books;
}

async function handle(world: World, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(incoming.url ?? '/', world.url);
  const text = await textOf(incoming);
  const method = incoming.method ?? 'GET';
  const path = /^\/api\/v2\/(.+)$/.exec(url.pathname)?.[1];
  if (path === undefined) return showPage(world, method, url, text, response);
  const apiKey = keyOf(incoming);
  if (apiKey === null)
    return refuseWith(response, new ChargebeeRefusal(401, 'invalid_request', 'api_authentication_failed'));
  const books = booksOf(world, apiKey);
  const parameters = method === 'GET' ? url.searchParams : new URLSearchParams(text);
  const key = headerOf(incoming, 'chargebee-idempotency-key');
  const request: FakeRequest = { method, path, parameters, key, pageUrl: world.url };
  const call = callOf(books, request);
  if (!call) return refuseWith(response, new ChargebeeRefusal(404, 'invalid_request', 'resource_not_found'));
  if (method === 'POST' && headerOf(incoming, 'chargebee-event-email') !== 'all-disabled') books.mailed.push(path);
  const first = world.before.findIndex(({ kind }) => kind === call.kind);
  if (first >= 0) world.before.splice(first, 1)[0]!.happens();
  const fault = takeFault(world, call.kind);
  if (fault === 'hang') return;
  if (fault === 'unreachable' || isLost(books, call, 'unreachable_times')) return void response.destroy();
  const refusal = refusalOf(fault);
  if (refusal) return refuseWith(response, refusal);
  const { status, answer } = answerOnce(books, call, request);
  if (fault === 'loses_answer' || isLost(books, call, 'refund_loses_answer')) return void response.destroy();
  if (fault === 'html')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
  if (fault === 'half') return sendHalf(response, answer);
  send(response, status, answer);
}

function refusalOf(fault: ChargebeeFault | null): ChargebeeRefusal | null {
  if (fault === 'site_not_found') return new ChargebeeRefusal(404, 'invalid_request', fault);
  if (fault === 'operation_failed') return new ChargebeeRefusal(400, fault, 'internal_temporary_error');
  const isStatus = fault === '401' || fault === '429' || fault === '500';
  return isStatus ? new ChargebeeRefusal(Number(fault), 'operation_failed', 'api_fault') : null;
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/** The API key of a request: HTTP Basic with an empty password. */
function keyOf(request: IncomingMessage): string | null {
  const encoded = /^Basic ([\w+/=]+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  return /^(test_\w+):$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1] ?? null;
}

/** Whether the card of a payment loses a request of its refund before it, or the answer behind it. */
function isLost(
  books: ChargebeeBooks,
  call: FakeCall,
  behaviour: 'unreachable_times' | 'refund_loses_answer',
): boolean {
  const card = books.cards.get(call.paymentId ?? '');
  if (call.kind !== 'refund' || card?.behaviour !== behaviour) return false;
  if (behaviour === 'refund_loses_answer') return true;
  card.count -= 1;
  return card.count >= 0;
}

/** The answer to a request; that of its first time where its idempotency key is known, for 30 minutes. */
function answerOnce(books: ChargebeeBooks, call: FakeCall, { path, parameters, key }: FakeRequest) {
  if (key === null) return answerOf(call);
  if (key === '' || key.length > 100) return answerOf({ ...call, answer: () => fail(invalid('idempotency_key')) });
  const request = `${path}?${parameters}`;
  const known = books.keys.get(key);
  if (known && Date.now() - known.at < keyLifeMs) {
    const isSame = known.request === request;
    return isSame ? known : answerOf({ ...call, answer: () => fail(invalid('idempotency_key')) });
  }
  const answered = answerOf(call);
  books.keys.set(key, { ...answered, request, at: Date.now() });
  return answered;
}

function fail(refusal: ChargebeeRefusal): never {
  throw refusal;
}

function answerOf(call: FakeCall): { status: number; answer: unknown } {
  try {
    return { status: 200, answer: structuredClone(call.answer()) };
  } catch (error) {
    if (!(error instanceof ChargebeeRefusal)) throw error;
    return { status: error.status, answer: error.body };
  }
}

function takeFault(world: World, kind: string): ChargebeeFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page behind an address that a payer was sent to. */
function showPage(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = /^\/pages\/v3\/(\w+)$/.exec(url.pathname)?.[1];
  const books = [...world.books.values()].find((each) => id !== undefined && each.pages.has(id));
  const order = books?.orders.get(id ?? '');
  if (!books || !order || id === undefined) return void response.writeHead(404).end('No such page');
  let outcome: string | null = null;
  try {
    if (method === 'POST') outcome = payPage(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof ChargebeeRefusal)) throw error;
    outcome = 'no test card';
  }
  const page = pageOf(books, id);
  const isDone = method === 'POST' && (!isPayable(page) || outcome === 'in_progress');
  if (isDone) response.writeHead(303, { location: `${order.redirectUrl}?id=${id}&state=${page.state}` }).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(hostedPage(order, outcome));
}

function sendHalf(response: ServerResponse, answer: unknown): void {
  const text = JSON.stringify(answer);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

function refuseWith(response: ServerResponse, { status, body }: ChargebeeRefusal): void {
  send(response, status, body);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

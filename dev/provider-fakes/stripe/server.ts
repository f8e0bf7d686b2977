import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeEvent, invalid, StripeBooks, StripeRefusal } from './books.ts';
import { callOf, type FakeCall, LostAnswer } from './calls.ts';
import { hostedPage } from './page.ts';
import { parseForm } from './parameters.ts';
import { paySession } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type StripeFault = 'unreachable' | 'loses_answer' | '401' | '429' | '500' | 'html' | 'half' | 'hang';

export interface StripeFake {
  readonly url: string;
  /** The books of the account that a key belongs to. */
  booksOf(secretKey: string): StripeBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: StripeFault, times?: number): void;
  /** Told of every event of every account, in order, as Stripe would send it. */
  onEvent(listener: (accountId: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, StripeBooks>;
  faults: { kind: string; how: StripeFault; remaining: number }[];
  listeners: ((accountId: string, event: FakeEvent) => void)[];
  url: string;
}

/**
 * A Stripe that moves no money: one account a key, the calls that the adapter makes, strict about parameters and idempotency keys, and a
 * page on which the sandbox's test cards pay. Its books last as long as its process. docs: providers.md
 */
export async function startStripeFake(options: { port?: number; host?: string } = {}): Promise<StripeFake> {
  const world: World = { books: new Map(), faults: [], listeners: [], url: '' };
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
    onEvent: (listener) => void world.listeners.push(listener),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function booksOf(world: World, secretKey: string): StripeBooks {
  const known = world.books.get(secretKey);
  if (known) return known;
  const books = new StripeBooks(secretKey);
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(books.accountId, event);
  };
  world.books.set(secretKey, books);
  return books;
}

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', world.url);
  const body = await textOf(request);
  if (!url.pathname.startsWith('/v1/')) return pageOf(world, request.method ?? 'GET', url, body, response);
  const key = /^Bearer ((?:sk|rk)_test_\w+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (!key) return send(response, 401, { error: { type: 'invalid_request_error', message: 'Invalid API Key' } });
  const books = booksOf(world, key);
  const form = parseForm(request.method === 'GET' ? url.search.slice(1) : body);
  const call = callOf(books, request.method ?? '', url.pathname, form, world.url);
  if (!call)
    return send(response, 404, { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } });
  const fault = takeFault(world, call.kind);
  if (fault === 'hang') return;
  if (fault === 'unreachable') return void response.destroy();
  if (fault === '401' || fault === '429' || fault === '500')
    return send(response, Number(fault), { error: { type: 'api_error' } });
  const { status, answer, isLost } = answerOf(books, call, request, url.pathname + body);
  if (isLost || fault === 'loses_answer') return void response.destroy();
  if (fault === 'html')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
  if (fault === 'half') {
    const text = JSON.stringify(answer);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
    return;
  }
  send(response, status, answer);
}

interface Answered {
  status: number;
  answer: unknown;
  isLost: boolean;
}

/** A repeated key is answered as before; with other parameters it is refused. Refused parameters use no key up. */
function answerOf(books: StripeBooks, call: FakeCall, request: IncomingMessage, asked: string): Answered {
  const key = request.headers['idempotency-key'];
  const known = typeof key === 'string' ? books.answers.get(key) : undefined;
  if (known) {
    if (known.asked === asked) return { status: known.status, answer: known.body, isLost: false };
    return { status: 400, answer: { error: { type: 'idempotency_error' } }, isLost: false };
  }
  const keep = (answered: Answered): Answered => {
    if (typeof key === 'string') books.answers.set(key, { asked, status: answered.status, body: answered.answer });
    return answered;
  };
  try {
    if (request.headers['stripe-version'] !== '2026-10-28.endive') throw invalid('api_version_invalid', null);
    if (typeof key === 'string' && key.length > 255) throw invalid('idempotency_key_too_long', null);
    return keep({ status: 200, answer: structuredClone(call.answer()), isLost: false });
  } catch (error) {
    if (error instanceof LostAnswer) {
      const lost = { status: 200, answer: structuredClone(error.answer), isLost: true };
      return error.answer === undefined ? lost : keep(lost);
    }
    if (!(error instanceof StripeRefusal)) throw error;
    const refused = { status: error.status, answer: structuredClone({ error: error.error }), isLost: false };
    return error.status === 402 ? keep(refused) : refused;
  }
}

function takeFault(world: World, kind: string): StripeFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page behind a session's address. */
function pageOf(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = /^\/pay\/(cs_test_\w+)$/.exec(url.pathname)?.[1];
  const books = [...world.books.values()].find((each) => id !== undefined && each.sessions.has(id));
  const session = id === undefined ? undefined : books?.sessions.get(id);
  if (!books || !session) {
    response.writeHead(404).end('No such page');
    return;
  }
  if (method !== 'POST') {
    sendPage(response, hostedPage(session, null));
    return;
  }
  const number = new URLSearchParams(body).get('card_number') ?? '';
  let outcome: string;
  try {
    outcome = paySession(books, session.id, number);
  } catch (error) {
    if (!(error instanceof StripeRefusal)) throw error;
    outcome = error.message;
  }
  if (session.status === 'open') sendPage(response, hostedPage(session, outcome));
  else response.writeHead(303, { location: session.success_url }).end();
}

function sendPage(response: ServerResponse, html: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

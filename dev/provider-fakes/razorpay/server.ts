import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeEvent, RazorpayBooks, RazorpayRefusal } from './books.ts';
import { callOf, type FakeCall, LostAnswer } from './calls.ts';
import { hostedPage } from './page.ts';
import { parseParameters } from './parameters.ts';
import { endIfOver, payLink } from './payment.ts';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type RazorpayFault = 'unreachable' | 'loses_answer' | '401' | '409' | '429' | '500' | 'html' | 'half' | 'hang';

export interface RazorpayFake {
  readonly url: string;
  /** The books of the account that a key belongs to. */
  booksOf(keyId: string): RazorpayBooks;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: FakeCall['kind'], how: RazorpayFault, times?: number): void;
  /** Told of every event of every account, in order, as Razorpay would send it. */
  onEvent(listener: (accountId: string, event: FakeEvent) => void): void;
  close(): Promise<void>;
}

interface World {
  books: Map<string, RazorpayBooks>;
  faults: { kind: string; how: RazorpayFault; remaining: number }[];
  listeners: ((accountId: string, event: FakeEvent) => void)[];
  url: string;
}

/**
 * A Razorpay that moves no money: one account a key, the calls that the adapter makes, strict about parameters, references and idempotency
 * keys, and a page on which the sandbox's test cards pay. Its books last as long as its process. docs: providers.md
 */
export async function startRazorpayFake(options: { port?: number; host?: string } = {}): Promise<RazorpayFake> {
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
    booksOf: (keyId) => booksOf(world, keyId),
    failNext: (kind, how, times = 1) => void world.faults.push({ kind, how, remaining: times }),
    onEvent: (listener) => void world.listeners.push(listener),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function booksOf(world: World, keyId: string): RazorpayBooks {
  const known = world.books.get(keyId);
  if (known) return known;
  const books = new RazorpayBooks(keyId);
  books.onEvent = (event) => {
    for (const listener of world.listeners) listener(books.accountId, event);
  };
  world.books.set(keyId, books);
  return books;
}

/** The books that a request may see. A secret is right when it is that of its key: `rzp_test_x` has `secret_x`. */
function authorized(world: World, header: string): { books: RazorpayBooks } | { refusal: string } {
  const encoded = /^Basic ([\w+/=-]+)$/.exec(header)?.[1] ?? '';
  const [keyId = '', secret = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 2);
  const name = /^rzp_test_(\w+)$/.exec(keyId)?.[1];
  if (name === undefined) return { refusal: 'The api key provided is invalid' };
  return secret === `secret_${name}`
    ? { books: booksOf(world, keyId) }
    : { refusal: 'The api secret provided is invalid' };
}

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET' } = request;
  const url = new URL(request.url ?? '/', world.url);
  const body = await textOf(request);
  if (!url.pathname.startsWith('/v1/')) return pageOf(world, method, url, body, response);
  const allowed = authorized(world, request.headers.authorization ?? '');
  if ('refusal' in allowed)
    return send(response, 401, { error: { code: 'BAD_REQUEST_ERROR', description: allowed.refusal } });
  const { books } = allowed;
  const parameters = parseParameters(body);
  const asked = { method, path: url.pathname, query: url.searchParams, parameters, pageUrl: world.url };
  const call = callOf(books, asked);
  if (!call) {
    const description = 'The requested URL was not found on the server.';
    return send(response, 400, { error: { code: 'BAD_REQUEST_ERROR', description } });
  }
  const fault = takeFault(world, call.kind);
  if (fault === 'hang') return;
  if (fault === 'unreachable') return void response.destroy();
  if (fault !== null && /^\d/.test(fault)) {
    return send(response, Number(fault), { error: { code: 'SERVER_ERROR', description: 'something went wrong' } });
  }
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

/** A repeated key of a refund is answered as before; with other parameters it is refused. A refusal uses no key up. */
function answerOf(books: RazorpayBooks, call: FakeCall, request: IncomingMessage, asked: string): Answered {
  const key = request.headers['x-refund-idempotency'];
  const known = typeof key === 'string' ? books.answers.get(key) : undefined;
  const keep = (body: unknown): unknown => {
    if (typeof key === 'string') books.answers.set(key, { asked, body });
    return body;
  };
  try {
    if (known && known.asked !== asked) {
      throw new RazorpayRefusal('Different request with the same idempotency key has already been processed.');
    }
    if (known) return { status: 200, answer: known.body, isLost: false };
    if (key !== undefined && !/^[\w-]{10,}$/.test(String(key)))
      throw new RazorpayRefusal('The idempotency key is invalid');
    return { status: 200, answer: keep(structuredClone(call.answer())), isLost: false };
  } catch (error) {
    if (error instanceof LostAnswer) return { status: 200, answer: keep(structuredClone(error.answer)), isLost: true };
    if (!(error instanceof RazorpayRefusal)) throw error;
    return { status: error.status, answer: { error: error.error }, isLost: false };
  }
}

function takeFault(world: World, kind: string): RazorpayFault | null {
  const fault = world.faults.find((each) => each.kind === kind && each.remaining > 0);
  if (!fault) return null;
  fault.remaining -= 1;
  return fault.how;
}

/** The page behind a link's address. A payer who has paid is sent back with what Razorpay adds to the address. */
function pageOf(world: World, method: string, url: URL, body: string, response: ServerResponse): void {
  const id = /^\/pay\/(plink_\w+)$/.exec(url.pathname)?.[1] ?? '';
  const books = [...world.books.values()].find((each) => each.links.has(id));
  const link = books?.links.get(id);
  if (!books || !link) {
    response.writeHead(404).end('No such page');
    return;
  }
  endIfOver(books, link);
  if (method !== 'POST') {
    sendPage(response, hostedPage(link, null));
    return;
  }
  let outcome: string;
  try {
    outcome = payLink(books, id, new URLSearchParams(body).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof RazorpayRefusal)) throw error;
    outcome = error.message;
  }
  if (outcome !== 'captured') {
    sendPage(response, hostedPage(link, outcome));
    return;
  }
  const back = new URL(link.callback_url);
  back.searchParams.set('razorpay_payment_id', books.paymentsOf(link).at(-1)?.id ?? '');
  back.searchParams.set('razorpay_payment_link_id', id);
  back.searchParams.set('razorpay_payment_link_reference_id', link.reference_id);
  back.searchParams.set('razorpay_payment_link_status', link.status);
  response.writeHead(303, { location: back.href }).end();
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

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakeCapture, FakeReturn } from './money.ts';

const maintenance = '<h1>Maintenance</h1>';

/** Ways in which a call goes wrong: before it has an effect, or (`loses_answer`, `half`, `html`) behind it. */
export type FakeFault =
  | 'unreachable'
  | 'loses_answer'
  | '401'
  | '403'
  | '409'
  | '429'
  | '500'
  | 'html'
  | 'half'
  | 'hang';

/** A fake as the server of a provider offers it: `dev/provider-fakes/<name>/server.ts` exports one as `fake`. */
export interface OfferedFake {
  start(): Promise<{ url: string; close(): Promise<void> }>;
  /** Secrets that connect to it, in words. */
  secrets: string;
}

/** A request as it came in; `pageUrl` is where the fake itself is reached. */
export interface FakeRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: string;
  pageUrl: string;
}

/** An answer as JSON; without a body where that is undefined. */
export interface FakeAnswer {
  status: number;
  body: unknown;
}

/** Answer to a payer's browser: a page, a script for ours, or the address where it goes on. */
export type FakePage = { html: string } | { script: string } | { location: string };

/** A call that came in, and what it is called in faults. */
export interface FakeCall<Kind extends string = string> {
  kind: Kind;
  answer(): unknown;
}

/** A request that never arrived, or whose answer gets lost behind its effect. */
export class LostAnswer extends Error {
  readonly answer: unknown;

  constructor(answer?: unknown) {
    super('the answer is lost');
    this.answer = answer;
  }
}

/** Objects of one account at a provider, which say what happens to them. */
export interface FakeBooks<Event> {
  onEvent: (event: Event) => void;
  /** All money that was taken, of whatever state by now. */
  captures(): FakeCapture[];
  /** All money that went back. */
  returned(): FakeReturn[];
}

/** A fake as far as its money is concerned. */
export interface FakeAccounts {
  /** The books of every account that was used so far. */
  accounts(): Pick<FakeBooks<never>, 'captures' | 'returned'>[];
}

/** One provider behind the shell. */
export interface FakeProvider<
  Kind extends string,
  Books extends FakeBooks<Event>,
  Event,
  Fault extends string = never,
> {
  /** Paths of its interface; every other path is a page. */
  apiPath: RegExp;
  /** Paths of its interface that pages of other origins may ask; absent where browsers do not ask it. */
  browserPath?: RegExp;
  /** Body of an answer whose status alone is the fault. */
  faultBody: unknown;
  /** Answers of faults that it alone has, or words in its own way. */
  faultAnswers?: Readonly<Partial<Record<FakeFault | Fault, FakeAnswer>>>;
  newBooks(key: string): Books;
  /** The name under which events of an account are told. */
  accountOf(books: Books, key: string): string;
  /** The key whose account a request may see, or how it is refused. */
  admit(request: FakeRequest): { key: string } | FakeAnswer;
  /** The call that a request makes, or how it is refused without one. */
  callOf(books: Books, request: FakeRequest): FakeCall<Kind> | FakeAnswer;
  /** Does a call and says its answer; null where that gets lost. */
  answer(books: Books, call: FakeCall<Kind>, request: FakeRequest): FakeAnswer | null;
  /** The page at an address, of whichever account it is; null where there is none. */
  page(accounts: readonly Books[], request: FakeRequest): FakePage | null;
}

/** A running fake of one provider. */
export interface ProviderFake<Kind extends string, Books extends FakeBooks<Event>, Event, Fault extends string = never>
  extends FakeAccounts {
  readonly url: string;
  /** The books of the account that a key belongs to. */
  booksOf(key: string): Books;
  /** The next `times` calls of a kind go wrong. */
  failNext(kind: Kind, how: FakeFault | Fault, times?: number): void;
  /** Calls of a kind go right again. */
  mend(kind: Kind): void;
  /** Number of calls of a kind that came in. */
  calls(kind: Kind): number;
  /** Done just before the next call of a kind: something else reaches the provider first. */
  beforeNext(kind: Kind, happens: () => void): void;
  /** Told of every event of every account, in order, as the provider would send it. */
  onEvent(listener: (account: string, event: Event) => void): void;
  close(): Promise<void>;
}

/** Address of a fake; a port of 0, the default, is any free one. */
export interface FakeOptions {
  port?: number;
  host?: string;
}

/**
 * Serves a provider that moves no money over HTTP: its interface, its pages for payers, and the faults that a test asks for. Books of an
 * account begin with the first use of its key and last as long as the process. Throws what the socket throws.
 */
export async function startFake<
  Kind extends string,
  Books extends FakeBooks<Event>,
  Event,
  Fault extends string = never,
>(
  provider: FakeProvider<Kind, Books, Event, Fault>,
  { host = '127.0.0.1', port = 0 }: FakeOptions = {},
): Promise<ProviderFake<Kind, Books, Event, Fault>> {
  const shell = new Shell(provider);
  const server = createServer((request, response) => {
    shell.handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  shell.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url: shell.url,
    booksOf: (key) => shell.booksOf(key),
    accounts: () => [...shell.accounts.values()],
    failNext: (kind, how, times = 1) => void shell.faults.push({ kind, how, remaining: times }),
    mend: (kind) => shell.mend(kind),
    calls: (kind) => shell.calls.get(kind) ?? 0,
    beforeNext: (kind, happens) => void shell.before.push({ kind, happens }),
    onEvent: (listener) => void shell.listeners.push(listener),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

class Shell<Kind extends string, Books extends FakeBooks<Event>, Event, Fault extends string> {
  readonly provider: FakeProvider<Kind, Books, Event, Fault>;
  faults: { kind: Kind; how: FakeFault | Fault; remaining: number }[] = [];
  readonly calls = new Map<Kind, number>();
  readonly before: { kind: Kind; happens: () => void }[] = [];
  readonly listeners: ((account: string, event: Event) => void)[] = [];
  readonly accounts = new Map<string, Books>();
  url = '';

  constructor(provider: FakeProvider<Kind, Books, Event, Fault>) {
    this.provider = provider;
  }

  booksOf(key: string): Books {
    const known = this.accounts.get(key);
    if (known) return known;
    const books = this.provider.newBooks(key);
    const account = this.provider.accountOf(books, key);
    books.onEvent = (event) => {
      for (const listener of this.listeners) listener(account, event);
    };
    this.accounts.set(key, books);
    return books;
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { provider } = this;
    const request: FakeRequest = {
      method: incoming.method ?? 'GET',
      url: new URL(incoming.url ?? '/', this.url),
      headers: incoming.headers,
      body: await textOf(incoming),
      pageUrl: this.url,
    };
    if (!provider.apiPath.test(request.url.pathname)) {
      return sendPage(response, provider.page([...this.accounts.values()], request));
    }
    if (provider.browserPath?.test(request.url.pathname)) {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', 'authorization, content-type');
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    }
    const admitted = provider.admit(request);
    if ('status' in admitted) return send(response, admitted);
    const books = this.booksOf(admitted.key);
    const call = provider.callOf(books, request);
    if ('status' in call) return send(response, call);
    this.calls.set(call.kind, (this.calls.get(call.kind) ?? 0) + 1);
    const first = this.before.findIndex(({ kind }) => kind === call.kind);
    if (first >= 0) this.before.splice(first, 1)[0]!.happens();
    const fault = this.takeFault(call.kind);
    if (fault === 'hang') return;
    if (fault === 'unreachable') return void response.destroy();
    const refusal = this.refusalOf(fault);
    if (refusal) return send(response, refusal);
    const answer = provider.answer(books, call, request);
    if (answer === null || fault === 'loses_answer') return void response.destroy();
    if (fault === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end(maintenance);
    if (fault === 'half') return sendHalf(response, answer);
    send(response, answer);
  }

  refusalOf(fault: FakeFault | Fault | null): FakeAnswer | null {
    if (fault === null) return null;
    const { faultAnswers, faultBody } = this.provider;
    return faultAnswers?.[fault] ?? (/^\d/.test(fault) ? { status: Number(fault), body: faultBody } : null);
  }

  mend(kind: Kind): void {
    this.faults = this.faults.filter((each) => each.kind !== kind);
  }

  takeFault(kind: Kind): FakeFault | Fault | null {
    const fault = this.faults.find((each) => each.kind === kind && each.remaining > 0);
    if (!fault) return null;
    fault.remaining -= 1;
    return fault.how;
  }
}

function sendPage(response: ServerResponse, page: FakePage | null): void {
  if (page === null) response.writeHead(404).end('No such page');
  else if ('location' in page) response.writeHead(303, { location: page.location }).end();
  else if ('script' in page) response.writeHead(200, { 'content-type': 'text/javascript' }).end(page.script);
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page.html);
}

function send(response: ServerResponse, { status, body }: FakeAnswer): void {
  if (body === undefined) response.writeHead(status).end();
  else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendHalf(response: ServerResponse, { body }: FakeAnswer): void {
  const text = JSON.stringify(body ?? null);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

import type { LookupAddress } from 'node:dns';
import { lookup as resolveAll } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { isPrivate } from './public-address.ts';

/** Where requests of one purpose may go beyond public https addresses. */
export interface OutgoingPolicy {
  /** `host` or `host:port` that may be private and may be plain http: an object store of one's own, a test's server. */
  readonly allowedHosts: readonly string[];
  /** Translators from IPv6 to IPv4 of this network, each the first 96 bits; none when absent. */
  readonly nat64Prefixes?: readonly string[];
  /** Resolver of names; the machine's when absent. */
  readonly resolve?: (host: string) => Promise<LookupAddress[]>;
}

/** Why an address is not asked. The words begin where the name of a field ends and hold neither a host nor an IP address. */
export class AddressRefused extends Error {
  /** True when trying once more may help. */
  readonly again: boolean;

  constructor(message: string, again = false) {
    super(message);
    this.again = again;
  }
}

const notPublic = 'leads to an address that is not public';

/**
 * The URL of an address that may be asked: https, port 443 or above 1023, without credentials, and no literal of a private network.
 * Throws `AddressRefused`. The addresses behind a name are looked at by `checkedName` and again by every connection.
 * spec: platform §17.5 URL safety
 */
export function checkedUrl(text: string, policy: OutgoingPolicy): URL {
  if (!URL.canParse(text)) throw new AddressRefused('must be an https address');
  const url = new URL(text);
  const isAllowed = allows(policy, url);
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:')) {
    throw new AddressRefused('must be an https address');
  }
  if (url.username !== '' || url.password !== '') throw new AddressRefused('must not carry credentials');
  const port = Number(url.port || 443);
  if (!isAllowed && port !== 443 && port < 1024) throw new AddressRefused('must have port 443 or one above 1023');
  const host = hostOf(url);
  if (!isAllowed && isIP(host) !== 0 && isPrivate(host, policy.nat64Prefixes)) throw new AddressRefused(notPublic);
  return url;
}

/** Looks whether the name of a URL leads to public addresses alone, now. Throws `AddressRefused`. spec: platform §17.5 URL safety */
export async function checkedName(url: URL, policy: OutgoingPolicy): Promise<void> {
  const host = hostOf(url);
  if (!allows(policy, url) && isIP(host) === 0) await publicAddresses(host, policy);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function allows({ allowedHosts }: OutgoingPolicy, url: URL): boolean {
  return allowedHosts.includes(url.host) || allowedHosts.includes(url.hostname);
}

/** The addresses of a name; one private address among them refuses the name. */
async function publicAddresses(host: string, policy: OutgoingPolicy): Promise<LookupAddress[]> {
  const { resolve = (name: string) => resolveAll(name, { all: true, verbatim: true }) } = policy;
  const found = await resolve(host).catch((): LookupAddress[] => []);
  if (found.length === 0) throw new AddressRefused('has a host that is not known', true);
  if (found.some(({ address }) => isPrivate(address, policy.nat64Prefixes))) throw new AddressRefused(notPublic);
  return found;
}

/** Guards a socket to a URL is made with, so that it leads nowhere else than was allowed. */
export interface GuardedSocket {
  /** Gives the connection public addresses only; absent where the operator allowed the host. */
  lookup?: LookupFunction;
  /** Looks at the other end once it is connected. Throws `AddressRefused`. */
  verify(socket: Socket): void;
}

/**
 * The guards of connections to a URL. Names are resolved by the connection itself, so none can change its address after it was looked
 * at; a literal never meets the look-up, so what was connected is looked at too. design: people-and-events §A 12
 */
export function guardSocket(url: URL, policy: OutgoingPolicy): GuardedSocket {
  if (allows(policy, url)) return { verify: () => undefined };
  return {
    lookup(host, options, done) {
      publicAddresses(host, policy).then(
        (found) => {
          const [first] = found;
          if (options.all) done(null, found);
          else done(null, first?.address ?? '', first?.family);
        },
        (error: AddressRefused) => done(error, '', 0),
      );
    },
    verify({ remoteAddress = '' }) {
      if (isPrivate(remoteAddress, policy.nat64Prefixes)) throw new AddressRefused(notPublic);
    },
  };
}

/** Why a call got no answer, in words of a closed list: never an address, a port's state or the text of a certificate. */
export const callFailures = ['address refused', 'no answer in time', 'no connection', 'call ended'] as const;
export type CallFailure = (typeof callFailures)[number];

/** A call that got no status. */
export class CallFailed extends Error {
  readonly failure: CallFailure;

  constructor(failure: CallFailure) {
    super(failure);
    this.failure = failure;
  }
}

export interface GuardedCall {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** For the whole call, from the look-up of the name to the answer's status. */
  deadlineMs: number;
  /** Ends the call when it is aborted. */
  signal?: AbortSignal;
}

/** Parts of an answer that are looked at. */
export interface GuardedAnswer {
  status: number;
  /** The header `retry-after` as it was sent; null without one. */
  retryAfter: string | null;
  /** Beginning of the body, 4 KiB at most. */
  beginning: Uint8Array;
}

/** A client for one receiver: connections of its own, which are kept open between calls. */
export interface GuardedClient {
  /** Posts once. Redirects are answers like others. Throws `CallFailed`. */
  post(call: GuardedCall): Promise<GuardedAnswer>;
  close(): Promise<void>;
}

const mostConnections = 8;
const mostAnswerBytes = 4_096;
/** Time for the rest of an answer whose status has come; a connection that takes longer is closed. */
const restOfAnswerMs = 1_000;

/**
 * Opens a client for addresses that callers gave: none is asked that `policy` does not allow, whatever its name leads to when the
 * connection is made. No proxy of the environment is used, answers are not decompressed, and of their bodies 4 KiB are read.
 * spec: platform §23 Outbound requests; design: people-and-events §A 12
 */
export function createGuardedClient(policy: OutgoingPolicy): GuardedClient {
  const agent = new Agent({
    connections: mostConnections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, done) {
      const { lookup, verify } = guardSocket(new URL(`${options.protocol}//${options.host}`), policy);
      const connect = buildConnector({
        timeout: 0,
        allowH2: false,
        minVersion: 'TLSv1.2',
        ...(lookup === undefined ? {} : { lookup }),
      });
      connect(options, (error, socket) => {
        if (error) return done(error, null);
        try {
          verify(socket);
        } catch (refused) {
          socket.destroy();
          return done(refused as Error, null);
        }
        return done(null, socket);
      });
    },
  });
  return {
    async post(call) {
      const ending = new AbortController();
      const timer = setTimeout(() => ending.abort(new CallFailed('no answer in time')), call.deadlineMs);
      const end = () => ending.abort(new CallFailed('call ended'));
      call.signal?.addEventListener('abort', end);
      try {
        if (call.signal?.aborted) throw new CallFailed('call ended');
        const { url, headers, body } = call;
        const { href } = checkedUrl(url, policy);
        const { signal } = ending;
        const answer = await request(href, { dispatcher: agent, method: 'POST', headers, body, signal });
        const beginning = await readRest(answer.body);
        const { 'retry-after': retryAfter } = answer.headers;
        return { status: answer.statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : null, beginning };
      } catch (error) {
        throw failureOf(error, ending.signal);
      } finally {
        clearTimeout(timer);
        call.signal?.removeEventListener('abort', end);
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * Reads the end of an answer, so that its connection can be used again; closes the connection of one that is long or slow. Answers what was
 * read of it, 4 KiB at most.
 */
async function readRest(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Uint8Array> {
  const slow = setTimeout(() => body.destroy(), restOfAnswerMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > mostAnswerBytes) break;
    }
  } catch {
    // The status has come, and what is behind it changes nothing.
  } finally {
    clearTimeout(slow);
  }
  return Buffer.concat(chunks).subarray(0, mostAnswerBytes);
}

function failureOf(error: unknown, { aborted, reason }: AbortSignal): CallFailed {
  if (error instanceof CallFailed) return error;
  if (aborted && reason instanceof CallFailed) return reason;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return new CallFailed(cause.again ? 'no connection' : 'address refused');
  }
  return new CallFailed('no connection');
}

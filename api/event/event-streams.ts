import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { readOutboundEvents, startOfReading } from '../../services/event/outbound-event.ts';
import type { OutboxListener } from '../../services/event/outbox-listener.ts';
import type { Permission } from '../../services/platform/roles.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../plugins/authentication.ts';
import { createEventChannels, type EventFrame, type ReadFrames } from './event-channel.ts';
import { type EventStream, frameOf, type StreamLimits, startStream, streamLimits } from './event-stream.ts';
import { outboundEventText } from './outbound-event.schema.ts';
import { needsBodies, withBodies } from './outbound-event-payload.ts';

/** Event streams of one process. */
export interface EventStreams {
  /**
   * Answers the request with a stream from `cursor` on. Throws `too_many_requests` and `service_unavailable`, with Retry-After, where there
   * are as many as may be.
   */
  open(request: FastifyRequest, reply: FastifyReply, wish: StreamWish): Promise<void>;
  /** Ends all of them, and takes no other. */
  close(): void;
}

export interface StreamWish {
  /** Cursor of the feed, `latest` or `beginning`. */
  cursor: string;
  /** Only these types; null for all. */
  types: ReadonlySet<string> | null;
}

interface Reader {
  caller: Caller;
  /** Null until its position is found. */
  stream: EventStream | null;
}

export const streamPermission: Permission = 'webhook:read';
const eventsOfPage = 100;
const bytesOfPage = 256 * 1024;
const retryAfterSeconds = 5;
const beatsATurn = 20;
/** Readers of a process that ends come back over this span, in milliseconds. */
const comeBackMs = { least: 1_000, most: 4_000 };

/**
 * Streams of outbound events: so many in the process and with one key, each ended within about a second after its key, role, account,
 * environment or tenant lost the right to read. design: people-and-events §B 29
 */
export function createEventStreams(app: Api, listener: OutboxListener): EventStreams {
  const limits: StreamLimits = { ...streamLimits, ...app.dependencies.eventStreams };
  const warn = (err: unknown) => app.log.warn({ err }, 'outbound events could not be read for streams');
  const channels = createEventChannels({ listener, read: readFrames(app), warn });
  const readers = new Set<Reader>();
  const watch = watchReaders(app, readers, limits);
  let isClosed = false;

  function admit(request: FastifyRequest, reply: FastifyReply): Reader {
    const { caller } = request;
    const isFull = isClosed || readers.size >= limits.mostReaders;
    const ofKey = [...readers].filter((reader) => reader.caller.credentialId === caller.credentialId).length;
    if (isFull || ofKey >= limits.mostOfKey) void reply.header('retry-after', String(retryAfterSeconds));
    if (isClosed) throw refuse('service_unavailable', 'The server ends; open the stream again.');
    if (ofKey >= limits.mostOfKey) {
      const problem = `${limits.mostOfKey} streams are open with this key already; close one, or read with another key.`;
      throw refuse('too_many_requests', problem);
    }
    if (isFull) throw refuse('service_unavailable', `${limits.mostReaders} streams are open here already; try again.`);
    const reader = { caller, stream: null };
    readers.add(reader);
    return reader;
  }

  async function open(request: FastifyRequest, reply: FastifyReply, { cursor, types }: StreamWish): Promise<void> {
    const reader = admit(request, reply);
    reply.raw.once('close', () => readers.delete(reader));
    try {
      const { from, lost } = await inSqlTransaction(app.dependencies.database, request.scope, (tx) =>
        startOfReading(tx, cursor),
      );
      if (isClosed) throw refuse('service_unavailable', 'The server ends; open the stream again.');
      if (reply.raw.destroyed) {
        // The event `close` may have come before anybody listened.
        readers.delete(reader);
        reply.hijack();
        return;
      }
      beginAnswer(reply);
      if (lost) reply.raw.write(resetText(from, lost));
      reader.stream = startStream(reply.raw, { channel: channels.join(request.scope), from, types, limits });
      watch.start();
    } catch (error) {
      readers.delete(reader);
      throw error;
    }
  }

  return {
    open,
    close() {
      isClosed = true;
      for (const { stream } of readers) stream?.end('the server ends');
      channels.close();
    },
  };
}

/** Looks, once an interval, whether the readers may still read, and sends what keeps their connections. */
function watchReaders(app: Api, readers: ReadonlySet<Reader>, limits: StreamLimits) {
  let timer: NodeJS.Timeout | null = null;
  let isChecking = false;
  // Counted in looks: a process that stood still has missed none of them.
  let unchecked = 0;
  const endWhere = (isEnded: (caller: Caller) => boolean, reason: string) => {
    for (const { caller, stream } of readers) if (isEnded(caller)) stream?.end(reason);
  };

  async function check(): Promise<void> {
    const ofKeys = new Map([...readers].map(({ caller }) => [caller.credentialId, caller]));
    const admitted = await app.stillAdmitted(new Set(ofKeys.values()), streamPermission);
    unchecked = 0;
    const lost = new Set([...ofKeys].filter(([, caller]) => !admitted.has(caller)).map(([id]) => id));
    endWhere(({ credentialId }) => lost.has(credentialId), 'the key may not read this any more');
  }

  async function beat(): Promise<void> {
    let done = 0;
    for (const { stream } of [...readers]) {
      stream?.beat();
      done += 1;
      if (done % beatsATurn === 0) await nextTurn();
    }
  }

  const tick = () => {
    if (readers.size === 0) {
      clearInterval(timer ?? undefined);
      timer = null;
      return;
    }
    void beat();
    unchecked += 1;
    if (unchecked > limits.mostUnchecked) endWhere(() => true, 'the right to read could not be checked');
    if (isChecking) return;
    isChecking = true;
    check()
      .catch((err: unknown) => app.log.warn({ err }, 'the right to read event streams was not checked'))
      .finally(() => {
        isChecking = false;
      });
  };
  return {
    start() {
      if (timer) return;
      unchecked = 0;
      timer = setInterval(tick, limits.checkMs).unref();
    },
  };
}

/** Reads of the feed as the streams send them, the same bytes for all of them. */
function readFrames(app: Api): ReadFrames {
  const { database } = app.dependencies;
  return async (scope: Scope, cursor: string) => {
    const found = await inSqlTransaction(database, scope, (tx) =>
      readOutboundEvents(tx, { after: cursor, limit: eventsOfPage }),
    );
    const page = needsBodies(found) ? await inTransaction(database, scope, (tx) => withBodies(tx, found)) : found;
    const frames: EventFrame[] = [];
    let [bytes, next] = [0, page.next];
    // Longer pages are read again: every reader that is behind holds its page in memory.
    for (const event of page.events) {
      if (bytes > bytesOfPage) break;
      const frame = frameOf({ cursor: event.cursor, type: event.eventName, data: outboundEventText(event) });
      frames.push(frame);
      bytes += frame.bytes.length;
      next = event.cursor;
    }
    return { frames, next, hasMore: page.hasMore || frames.length < page.events.length };
  };
}

/** Head of the answer, with the headers that plugins set, and the time after which a reader that is cut off comes back. */
function beginAnswer(reply: FastifyReply): void {
  reply.hijack();
  const out = reply.raw;
  // The stream ends with its connection, which a stop of the server must not wait for.
  out.shouldKeepAlive = false;
  out.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const { least, most } = comeBackMs;
  out.write(`retry: ${least + Math.floor(Math.random() * (most - least))}\n\n`);
}

function resetText(cursor: string, reason: string): string {
  return `id: ${cursor}\nevent: reset\ndata: ${JSON.stringify({ reason, cursor })}\n\n`;
}

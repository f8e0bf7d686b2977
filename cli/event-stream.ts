import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, Problem, send, Unreachable } from './connection.ts';

/** An outbound event as `items` of the feed has it, as far as it is looked at here. */
export interface StreamedEvent {
  id: string;
  cursor: string;
  event_type: string;
  entity_id: string;
  sequence: number;
  occurred_at: string;
  payload: Record<string, unknown>;
}

/** Message of a stream: the position it begins at, an event, or that events may be missing before `position`. */
export type Told =
  | { kind: 'start'; position: string }
  | { kind: 'event'; event: StreamedEvent }
  | { kind: 'reset'; position: string; reason: string };

interface Wish {
  /** Position to begin at: a cursor, `latest` or `beginning`. */
  from: string;
  types: string | undefined;
  /** Told once each time the connection is lost, with what is wrong. */
  onLost(problem: string): void;
}

interface Block {
  id: string | null;
  event: string;
  data: string | null;
}

/** The server sends something every 15 s: a connection that is silent for longer is dead. */
const silenceMs = 45_000;
const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/** The API asks to come back later. */
class Busy extends Problem {
  readonly waitMs: number;
  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/**
 * Receives outbound events in order until `ended`, and reconnects behind the last one, so that none is missed and none comes twice. Throws a
 * `Problem` when there is no stream at first, and later when the API refuses in a way that waiting does not mend. docs: outbound-events.md
 */
export async function* streamEvents(connection: Connection, wish: Wish, ended: AbortSignal): AsyncGenerator<Told> {
  let position: string | null = null;
  for (let failures = 0; !ended.aborted; failures += 1) {
    let waitMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures);
    let problem = 'The stream ended';
    const silence = watchSilence();
    try {
      const response = await openStream(connection, wish, position, AbortSignal.any([ended, silence.signal]));
      failures = 0;
      waitMs = firstPauseMs;
      for await (const block of blocksIn(response, silence)) {
        const isFirst: boolean = position === null;
        position = block.id ?? position;
        const told = toldBy(block, isFirst);
        if (told) yield told;
      }
    } catch (error) {
      if (ended.aborted) return;
      const { message } = error as Error;
      if (position === null) throw new Problem(message);
      if (error instanceof Problem && !(error instanceof Busy) && !(error instanceof Unreachable)) throw error;
      if (error instanceof Busy) waitMs = Math.max(waitMs, error.waitMs);
      problem = message;
    } finally {
      silence.stop();
    }
    if (ended.aborted) return;
    wish.onLost(problem);
    await pause(waitMs, undefined, { signal: ended }).catch(() => undefined);
  }
}

/** Opens the stream behind a position, or where the wish says. Throws `Busy` where waiting helps, and a `Problem` where it does not. */
async function openStream(
  connection: Connection,
  { from, types }: Wish,
  position: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const query = new URLSearchParams({ cursor: from, ...(types === undefined ? {} : { types }) });
  const headers: Record<string, string> = position === null ? {} : { 'last-event-id': position };
  const response = await send(connection, `/outbound-events/stream?${query}`, { headers, signal });
  if (response.ok) return response;
  const { status } = response;
  const answer = (await response.json().catch(() => ({}))) as { message?: string };
  const message = `The API answers ${status}: ${answer.message ?? response.statusText}`;
  if (status !== 429 && status < 500) throw new Problem(message);
  throw new Busy(message, 1_000 * (Number(response.headers.get('retry-after')) || 0));
}

function toldBy({ id, event, data }: Block, isFirst: boolean): Told | null {
  if (event === 'reset' && data !== null) {
    const { reason, cursor } = JSON.parse(data) as { reason: string; cursor: string };
    return { kind: 'reset', position: cursor, reason };
  }
  if (data !== null) return { kind: 'event', event: JSON.parse(data) as StreamedEvent };
  return isFirst && id !== null ? { kind: 'start', position: id } : null;
}

interface Silence {
  signal: AbortSignal;
  /** Waits for the API from now on. */
  start(): void;
  stop(): void;
}

/** Aborts when the API was waited for too long. */
function watchSilence(): Silence {
  const silent = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const start = () => {
    stop();
    timer = setTimeout(() => silent.abort(new Error('The API is silent')), silenceMs);
  };
  start();
  return { signal: silent.signal, start, stop };
}

/** The blocks of a stream of server-sent events; comments alone are none. */
async function* blocksIn(response: Response, silence: Silence): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let text = '';
  silence.start();
  for await (const chunk of response.body ?? []) {
    // The receiver may take long.
    silence.stop();
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split(/\r?\n\r?\n/);
    text = parts.pop() ?? '';
    for (const part of parts) {
      const block = blockOf(part);
      if (block.id !== null || block.data !== null) yield block;
    }
    silence.start();
  }
}

function blockOf(text: string): Block {
  const block: Block = { id: null, event: 'message', data: null };
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (name === 'id') block.id = value;
    if (name === 'event') block.event = value;
    if (name === 'data') block.data = block.data === null ? value : `${block.data}\n${value}`;
  }
  return block;
}

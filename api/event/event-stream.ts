import type { ServerResponse } from 'node:http';
import type { AwaitedPage, EventChannel, EventFrame, FramePage } from './event-channel.ts';

/** Bounds of the event streams of one process. */
export interface StreamLimits {
  /** Readers at once. */
  mostReaders: number;
  /** Readers at once with one key. */
  mostOfKey: number;
  /** Bytes that may wait for a reader. */
  queuedBytes: number;
  /** Time a reader has to take more than that. */
  patienceMs: number;
  /** Interval of looking whether readers may still read. */
  checkMs: number;
  /** Looks in a row that may fail or stay without an answer before nobody is known to have the right any more. */
  mostUnchecked: number;
  /** Without an event for this long a comment is sent. */
  silenceMs: number;
}

// design: people-and-events §B 29
export const streamLimits: StreamLimits = {
  mostReaders: 1_000,
  mostOfKey: 20,
  queuedBytes: 256 * 1024,
  patienceMs: 2_000,
  checkMs: 1_000,
  mostUnchecked: 5,
  silenceMs: 15_000,
};

/** A stream under way. */
export interface EventStream {
  /** Sends a comment when nothing was sent for long, so that nobody between takes the connection for dead. */
  beat(): void;
  /** Ends it, with the reason as a comment. */
  end(reason: string): void;
}

interface Source {
  channel: EventChannel;
  /** Position of the first event that is sent. */
  from: string;
  /** Only these types; null for all. */
  types: ReadonlySet<string> | null;
  limits: StreamLimits;
}

/** Bytes that are written at once. */
const batchBytes = 64 * 1024;
/** A reader that was told to go and does not take what is left is cut off. */
const farewellMs = 1_000;

/**
 * Sends the events behind a position as server-sent events until the reader goes, is told to go, or does not take what is sent: who leaves
 * more than `queuedBytes` lying for `patienceMs` is cut off, and goes on later by its Last-Event-ID. Nothing is read ahead for a reader
 * that is behind. design: people-and-events §B 29
 */
export function startStream(out: ServerResponse, source: Source): EventStream {
  const { channel, types, limits } = source;
  let cursor = source.from;
  let hasPassedOver = false;
  let sentAt = performance.now();
  let isOver = false;
  let awaited: AwaitedPage | null = null;

  const send = (bytes: Buffer | string) => {
    out.write(bytes);
    sentAt = performance.now();
  };
  const stop = () => {
    if (isOver) return;
    isOver = true;
    awaited?.forget();
    channel.leave();
  };

  const end = (reason: string) => {
    if (isOver) return;
    stop();
    out.end(`: ${reason}\n\n`);
    setTimeout(() => out.destroy(), farewellMs).unref();
  };

  async function follow(): Promise<void> {
    while (!isOver) {
      awaited = channel.next(cursor);
      const page = await awaited.page;
      if (!page) {
        end('the events behind this position are not kept any more');
        return;
      }
      for (const bytes of batchesOf(page, types)) {
        if (!(await hasRoom(out, limits))) out.destroy();
        if (isOver || out.destroyed) return;
        send(bytes);
      }
      cursor = page.next;
      hasPassedOver = !isWanted(page.frames.at(-1), types);
    }
  }

  out.once('close', stop);
  // A connection that breaks is told by `close`.
  out.on('error', () => {});
  send(`id: ${cursor}\n\n`);
  void follow();
  return {
    beat() {
      if (isOver || performance.now() - sentAt < limits.silenceMs) return;
      // Events that the reader did not ask for move its position too.
      send(hasPassedOver ? `: nothing new\nid: ${cursor}\n\n` : ': nothing new\n\n');
      hasPassedOver = false;
    },
    end,
  };
}

const isWanted = (frame: EventFrame | undefined, types: ReadonlySet<string> | null) =>
  !types || !frame || types.has(frame.type);

function* batchesOf({ frames }: FramePage, types: ReadonlySet<string> | null): Generator<Buffer> {
  let batch: Buffer[] = [];
  let size = 0;
  for (const frame of frames) {
    if (!isWanted(frame, types)) continue;
    const { bytes } = frame;
    if (size > 0 && size + bytes.length > batchBytes) {
      yield Buffer.concat(batch);
      batch = [];
      size = 0;
    }
    batch.push(bytes);
    size += bytes.length;
  }
  const [only] = batch;
  if (only) yield batch.length === 1 ? only : Buffer.concat(batch);
}

/** True once no more than `queuedBytes` wait; false when they were not taken in time or the connection is gone. */
async function hasRoom(out: ServerResponse, { queuedBytes, patienceMs }: StreamLimits): Promise<boolean> {
  if (out.writableLength <= queuedBytes) return true;
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(patience);
      out.off('drain', settle).off('close', settle);
      resolve(!out.destroyed && out.writableLength <= queuedBytes);
    };
    // Events that arrived while this process was busy come first.
    const patience = setTimeout(() => setImmediate(settle), patienceMs);
    out.once('drain', settle).once('close', settle);
  });
}

/** Server-sent event with the position right behind it as its id. */
export function frameOf(event: { cursor: string; type: string; data: string }): EventFrame {
  return { type: event.type, bytes: Buffer.from(`id: ${event.cursor}\nevent: ${event.type}\ndata: ${event.data}\n\n`) };
}

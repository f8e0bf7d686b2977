import { setTimeout as pause } from 'node:timers/promises';
import { refusalIn } from '../../billing/refusal.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import type { OutboxListener } from '../../services/event/outbox-listener.ts';
import { heardWithin } from './outbound-event-feed.ts';

/** An event in the bytes that every stream sends. */
export interface EventFrame {
  type: string;
  bytes: Buffer;
}

/** Events behind a position in their order, and the position behind them. */
export interface FramePage {
  frames: readonly EventFrame[];
  next: string;
  hasMore: boolean;
}

/** Reads the events of an environment behind a cursor; a page without frames when there are none. */
export type ReadFrames = (scope: Scope, cursor: string) => Promise<FramePage>;

/** A page that a reader waits for: null when it will not come. `forget` ends the waiting. */
export interface AwaitedPage {
  page: Promise<FramePage | null>;
  forget(): void;
}

/** Part of a reader in the reading of an environment, until `leave`. */
export interface EventChannel {
  next(cursor: string): AwaitedPage;
  leave(): void;
}

/** Environments that have readers in this process. */
export interface EventChannels {
  join(owner: { tenantId: string; environmentId: string }): EventChannel;
  close(): void;
}

interface World {
  listener: OutboxListener;
  read: ReadFrames;
  warn(error: unknown): void;
}

/** Readers that wait for the same page. */
interface Place {
  takers: Set<(page: FramePage | null) => void>;
  empty: AbortController;
}

/**
 * After a page that was not full the next is not read for this long: events that come together go out together. It grows with the readers,
 * who cost the process a write each.
 */
const gatherMs = { least: 50, ofReader: 1, most: 500 };
/** The safety net under the notifications, which may be lost with a connection. */
const slowPollMs = 1_000;
const retryMs = 1_000;
/** Readers that get a page at once; the others follow a millisecond later each time, so that requests between them are not held up. */
const takersATurn = 2;
const turnMs = 1;
/** Page read last, for readers that are a little behind. */
const keptPages = 16;
const keptBytes = 2 * 1024 * 1024;

/**
 * Reads each place of an environment's feed once for all readers that stand there, however many they are, and keeps no connection while
 * nothing comes. Readers behind are given the pages in between. A read that fails is repeated; one that is refused ends the waiting. design: people-and-events §B 29
 */
export function createEventChannels(world: World): EventChannels {
  const open = new Map<string, { channel: Omit<EventChannel, 'leave'>; close(): void; readers: number }>();
  return {
    join(owner) {
      const { environmentId } = owner;
      const shared = open.get(environmentId) ?? { ...openChannel(workflowScope(owner), world), readers: 0 };
      shared.readers += 1;
      open.set(environmentId, shared);
      return {
        next: shared.channel.next,
        leave() {
          shared.readers -= 1;
          if (shared.readers > 0) return;
          shared.close();
          open.delete(environmentId);
        },
      };
    },
    close() {
      for (const { close } of open.values()) close();
    },
  };
}

function openChannel(scope: Scope, { listener, read, warn }: World) {
  const places = new Map<string, Place>();
  const pages = recentPages();
  let isClosed = false;
  let present = { cursor: '', readableAtMs: 0 };

  async function pageBehind(cursor: string, { empty: { signal } }: Place): Promise<FramePage | null> {
    if (present.cursor === cursor) await pauseUnless(signal, present.readableAtMs - performance.now());
    for (let failures = 0; !signal.aborted; ) {
      try {
        // Listening starts before the read: what commits after the read is heard.
        const wish = await listener.listen(scope.environmentId);
        try {
          const page = await read(scope, cursor);
          if (page.frames.length > 0) return page;
          await heardWithin(wish.heard, slowPollMs, signal);
        } finally {
          wish.forget();
        }
        failures = 0;
      } catch (error) {
        if (refusalIn(error)) return null;
        if (failures === 0) warn(error);
        failures += 1;
        await pauseUnless(signal, retryMs);
      }
    }
    return null;
  }

  async function serve(cursor: string, place: Place): Promise<void> {
    const page = await pageBehind(cursor, place);
    // Readers that come from here on find the page kept.
    if (places.get(cursor) === place) places.delete(cursor);
    if (!page) {
      for (const take of place.takers) take(null);
      return;
    }
    pages.keep(cursor, page);
    const gathering = Math.min(gatherMs.most, Math.max(gatherMs.least, place.takers.size * gatherMs.ofReader));
    if (!page.hasMore) present = { cursor: page.next, readableAtMs: performance.now() + gathering };
    let given = 0;
    for (const take of place.takers) {
      take(page);
      given += 1;
      if (given % takersATurn === 0) await pause(turnMs);
    }
  }

  function next(cursor: string): AwaitedPage {
    const kept = pages.get(cursor);
    if (kept || isClosed) return { page: Promise.resolve(kept ?? null), forget: () => {} };
    const { promise, resolve } = Promise.withResolvers<FramePage | null>();
    const known = places.get(cursor);
    const place = known ?? { takers: new Set(), empty: new AbortController() };
    place.takers.add(resolve);
    if (!known) {
      places.set(cursor, place);
      void serve(cursor, place);
    }
    const forget = () => {
      resolve(null);
      place.takers.delete(resolve);
      if (place.takers.size > 0) return;
      place.empty.abort();
      if (places.get(cursor) === place) places.delete(cursor);
    };
    return { page: promise, forget };
  }

  const close = () => {
    isClosed = true;
    for (const place of places.values()) {
      place.empty.abort();
      for (const take of place.takers) take(null);
    }
    places.clear();
  };
  return { channel: { next }, close };
}

/** The last pages by the cursor they come behind, so many and so large at most. */
function recentPages() {
  const pages = new Map<string, FramePage>();
  const sizeOf = ({ frames }: FramePage) => frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
  let size = 0;
  return {
    get: (cursor: string) => pages.get(cursor),
    keep(cursor: string, page: FramePage) {
      if (pages.has(cursor)) return;
      pages.set(cursor, page);
      size += sizeOf(page);
      for (const [oldest, dropped] of pages) {
        if (pages.size <= keptPages && size <= keptBytes) return;
        pages.delete(oldest);
        size -= sizeOf(dropped);
      }
    },
  };
}

async function pauseUnless(signal: AbortSignal, milliseconds: number): Promise<void> {
  if (milliseconds > 0) await pause(milliseconds, undefined, { signal }).catch(() => undefined);
}

import type { Notification, QueryConfig } from 'pg';
import type { Database } from '../../db/orm.ts';
import { outboxChannel } from '../platform/outbox.ts';

/** The connection is asked this often whether it still lives, and has so long to answer. */
const proveEveryMs = 15_000;
const proofTimeoutMs = 5_000;

/** Hears which environments have new events. What they are is read from the table; hearing nothing proves nothing. */
export interface OutboxListener {
  /**
   * Starts to listen for an environment. The returned `heard` resolves when a transaction with events of it commits, when
   * the connection is lost, or when the listener closes. `forget` must be called when nobody waits any more.
   */
  listen(environmentId: string): Promise<{ heard: Promise<void>; forget(): void }>;
  /**
   * Tells `heard` of every environment whose events were committed, and null when some may have been missed. The answer ends it. It hears
   * while there is a connection, which `connected` sees to.
   */
  follow(heard: (environmentId: string | null) => void): () => void;
  /** Opens the connection where there is none. */
  connected(): Promise<void>;
  close(): Promise<void>;
  readonly closed: boolean;
}

/**
 * One connection of the process listens for all environments, from the first wish to hear until `close`; after it breaks the
 * next wish opens another. design: architecture §5 Outbox
 */
export function createOutboxListener(database: Database): OutboxListener {
  const wishes = new Map<string, Set<() => void>>();
  const followers = new Set<(environmentId: string | null) => void>();
  let connection: Promise<{ end(): void }> | null = null;
  let closed = false;

  const tell = (environmentId: string) => {
    for (const wish of wishes.get(environmentId) ?? []) wish();
    for (const follower of followers) follower(environmentId);
  };
  const tellAll = () => {
    for (const follower of followers) follower(null);
    for (const wish of [...wishes.values()].flatMap((set) => [...set])) wish();
  };

  async function connect(): Promise<{ end(): void }> {
    const client = await database.pool.connect();
    let released = false;
    const lost = () => {
      if (released) return;
      released = true;
      clearInterval(proving);
      connection = null;
      // The connection listens, so it never goes back into the pool.
      client.release(true);
      tellAll();
    };
    client.on('notification', (message: Notification) => tell(message.payload ?? ''));
    client.once('error', lost);
    client.once('end', lost);
    // A connection that nobody knows to be dead would hear nothing for ever.
    const proving = setInterval(() => {
      client.query({ text: 'select 1', query_timeout: proofTimeoutMs } as QueryConfig).catch(lost);
    }, proveEveryMs);
    proving.unref();
    try {
      await client.query(`listen ${outboxChannel}`);
    } catch (error) {
      lost();
      throw error;
    }
    // Events were committed while there was no connection.
    for (const follower of followers) follower(null);
    return { end: lost };
  }

  async function connected(): Promise<void> {
    connection ??= connect().catch((error: unknown) => {
      connection = null;
      throw error;
    });
    await connection;
  }

  return {
    connected,
    follow(heard) {
      followers.add(heard);
      return () => followers.delete(heard);
    },
    get closed() {
      return closed;
    },
    async listen(environmentId) {
      if (closed) return { heard: Promise.resolve(), forget: () => {} };
      await connected();
      const heard = Promise.withResolvers<void>();
      const set = wishes.get(environmentId) ?? new Set();
      wishes.set(environmentId, set.add(heard.resolve));
      const forget = () => {
        set.delete(heard.resolve);
        if (set.size === 0 && wishes.get(environmentId) === set) wishes.delete(environmentId);
      };
      return { heard: heard.promise, forget };
    },
    async close() {
      closed = true;
      tellAll();
      (await connection?.catch(() => null))?.end();
    },
  };
}

import type { Notification, QueryConfig } from 'pg';
import type { Database } from '../../db/orm.ts';
import { outboxChannel } from '../platform/outbox.ts';

/** The connection is asked this often whether it still lives, and has so long to answer. */
const proveEveryMs = 15_000;
const proofTimeoutMs = 5_000;

/** Told at the commit of a changed webhook endpoint, of a test event that is asked for, and of a replay that begins or ends. */
const webhookChannel = 'perennial_webhook';

/**
 * Hears which environments have new events, and that something changed about webhook endpoints. The rest is read from the tables; hearing nothing
 * proves nothing.
 */
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
  /** Tells `changed` that endpoints may have, or may have while there was no connection. The answer ends it. */
  followEndpoints(changed: () => void): () => void;
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
  const endpointFollowers = new Set<() => void>();
  let connection: Promise<{ end(): void }> | null = null;
  let closed = false;

  const tell = (environmentId: string) => {
    for (const wish of wishes.get(environmentId) ?? []) wish();
    for (const follower of followers) follower(environmentId);
  };
  const tellOfEndpoints = () => {
    for (const changed of endpointFollowers) changed();
  };
  const tellFollowers = () => {
    for (const follower of followers) follower(null);
    tellOfEndpoints();
  };
  const tellAll = () => {
    tellFollowers();
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
    client.on('notification', ({ channel, payload }: Notification) => {
      if (channel === webhookChannel) tellOfEndpoints();
      else tell(payload ?? '');
    });
    client.once('error', lost);
    client.once('end', lost);
    // A connection that nobody knows to be dead would hear nothing for ever.
    const proving = setInterval(() => {
      client.query({ text: 'select 1', query_timeout: proofTimeoutMs } as QueryConfig).catch(lost);
    }, proveEveryMs);
    proving.unref();
    try {
      await client.query(`listen ${outboxChannel}; listen ${webhookChannel}`);
    } catch (error) {
      lost();
      throw error;
    }
    // Events were committed while there was no connection.
    tellFollowers();
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
    followEndpoints(changed) {
      endpointFollowers.add(changed);
      return () => endpointFollowers.delete(changed);
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

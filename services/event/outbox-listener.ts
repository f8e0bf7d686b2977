import type { Notification } from 'pg';
import type { Database } from '../../db/orm.ts';
import { outboxChannel } from '../platform/outbox.ts';

/** Hears which environments have new events. What they are is read from the table; hearing nothing proves nothing. */
export interface OutboxListener {
  /**
   * Starts to listen for an environment. The returned `heard` resolves when a transaction with events of it commits, when
   * the connection is lost, or when the listener closes. `forget` must be called when nobody waits any more.
   */
  listen(environmentId: string): Promise<{ heard: Promise<void>; forget(): void }>;
  close(): Promise<void>;
  readonly closed: boolean;
}

/**
 * One connection of the process listens for all environments, from the first wish to hear until `close`; after it breaks the
 * next wish opens another. design: architecture §5 Outbox
 */
export function createOutboxListener(database: Database): OutboxListener {
  const wishes = new Map<string, Set<() => void>>();
  let connection: Promise<{ end(): void }> | null = null;
  let closed = false;

  const tell = (environmentId: string) => {
    for (const wish of wishes.get(environmentId) ?? []) wish();
  };
  const tellAll = () => {
    for (const environmentId of wishes.keys()) tell(environmentId);
  };

  async function connect(): Promise<{ end(): void }> {
    const client = await database.pool.connect();
    let released = false;
    const lost = () => {
      if (released) return;
      released = true;
      connection = null;
      // The connection listens, so it never goes back into the pool.
      client.release(true);
      tellAll();
    };
    client.on('notification', (message: Notification) => tell(message.payload ?? ''));
    client.once('error', lost);
    client.once('end', lost);
    try {
      await client.query(`listen ${outboxChannel}`);
    } catch (error) {
      lost();
      throw error;
    }
    return { end: lost };
  }

  return {
    get closed() {
      return closed;
    },
    async listen(environmentId) {
      if (closed) return { heard: Promise.resolve(), forget: () => {} };
      connection ??= connect().catch((error: unknown) => {
        connection = null;
        throw error;
      });
      await connection;
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

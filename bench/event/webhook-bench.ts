import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startWebhookDelivery } from '../../activities/event/webhook/delivery.ts';
import { renderInvoices } from '../../api/event/outbound-event-payload.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { createEndpoint } from '../../services/event/webhook/endpoint.ts';
import type { CustomerEvent } from '../../services/platform/event-catalogue/customer-events.ts';
import { writeEvents } from '../../services/platform/outbox.ts';
import type { EnvelopeKey } from '../../services/platform/sealed-secret.ts';
import type { BenchPlatform } from '../platform.ts';

export const benchSecretKeys: readonly EnvelopeKey[] = [{ id: 'bench', key: '07'.repeat(32) }];

/** A receiver on loopback that answers at once. */
export interface Sink {
  url: string;
  /** Calls `heard` for every request, with its headers and the time at which it was there. */
  onRequest(heard: (headers: IncomingHttpHeaders) => void): void;
  /** Resolves when so many more requests have come. */
  receives(count: number): Promise<void>;
  close(): void;
}

/** Starts a receiver. */
export async function startSink(): Promise<Sink> {
  let heard: (headers: IncomingHttpHeaders) => void = () => undefined;
  let waiting: { left: number; resolve(): void } | null = null;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      heard(request.headers);
      response.writeHead(204).end();
      if (waiting && --waiting.left === 0) waiting.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    onRequest(next) {
      heard = next;
    },
    receives(left) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = { left, resolve };
      return promise;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts workers that send webhooks to loopback; the answer stops them. */
export async function startSending(platform: BenchPlatform): Promise<() => Promise<void>> {
  const policy = { allowedHosts: ['127.0.0.1'] };
  const stop = await platform.startWorkers({ webhooks: { policy, secretKeys: benchSecretKeys, renderInvoices } });
  await startWebhookDelivery(platform.temporal);
  return stop;
}

/** Registers a receiver of everything from now on. */
export async function register(
  { database, scope }: BenchPlatform,
  url: string,
): Promise<{ id: string; secret: string }> {
  const usual = { description: '', eventTypes: [], enabled: true, onExhausted: 'skip' as const, rateLimit: null };
  const input = { ...usual, url, headers: {}, metadata: {} };
  const { row, secret } = await inTransaction(database, scope, (tx) =>
    createEndpoint(tx, benchSecretKeys, { ...input, secret: null, start: 'now' }),
  );
  return { id: row.id, secret };
}

/** Commits events of objects in one transaction. */
export async function emit({ database, scope }: BenchPlatform, objects: readonly string[]): Promise<void> {
  await inSqlTransaction(database, scope, (tx) =>
    writeEvents(
      tx,
      scope,
      objects.map((entityId) => ({
        name: 'customer.updated',
        entityType: 'customer',
        entityId,
        payload: { customer: benchCustomer(entityId) },
        occurredAt: new Date().toISOString(),
      })),
    ),
  );
}

/** A payload of ordinary size. */
export function benchCustomer(id: string): CustomerEvent['payload']['customer'] {
  return {
    id,
    external_id: `ext-${id}`,
    environment_id: 'env_bench',
    name: 'A Customer of Ordinary Size',
    email: 'billing@example.com',
    address_line1: '1 Market Street',
    address_line2: null,
    address_city: 'Springfield',
    address_state: null,
    address_postal_code: null,
    address_country: 'US',
    timezone: 'UTC',
    metadata: {},
  };
}

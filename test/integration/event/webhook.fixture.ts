import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { startWebhookDelivery } from '../../../activities/event/webhook/delivery.ts';
import type { RetrySchedule } from '../../../activities/event/webhook/schedule.ts';
import { renderInvoices } from '../../../api/event/outbound-event-payload.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { verifyStandardWebhook } from '../../../integrations/standard-webhook.ts';
import type { PhaseEvent } from '../../../services/platform/event-catalogue/subscription-events.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { testApp, testOutgoing } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';
import { testTemporal } from '../../support/temporal.ts';
import { toldPhase, toldRejection } from '../../support/told-event.ts';
import { startWorkers, type TestWorkers } from '../../support/worker.ts';

/** A request as a receiver had it. */
export interface Received {
  id: string;
  object: string;
  sequence: number;
  previous: number;
  skipped: number;
  attempt: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Requests about an object, by the first receipt of each id. */
  firstOf(object: string): Received[];
  /** Has it answer in another way. */
  answer(how: Answer): void;
}

export type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

/** Answers a status at once. */
export const status =
  (code: number): Answer =>
  (_, response) =>
    void response.writeHead(code).end();

/** A receiver on loopback, at a port of its own unless one is named, until the test ends. */
export async function receiver(how: Answer = status(200), port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let answer = how;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = receivedOf(request, Buffer.concat(chunks).toString('utf8'));
    received.push(one);
    answer(one, response, request);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    firstOf: (object) => firstReceipts(received).filter((each) => each.object === object),
    answer(next) {
      answer = next;
    },
  };
}

function receivedOf({ headers }: IncomingMessage, body: string): Received {
  const number = (name: string) => Number(headers[`webhook-${name}`]);
  return {
    id: String(headers['webhook-id']),
    object: String(headers['webhook-object']),
    sequence: number('sequence'),
    previous: number('previous'),
    skipped: number('skipped'),
    attempt: number('attempt'),
    headers,
    body,
  };
}

export function firstReceipts(received: readonly Received[]): Received[] {
  const ids = new Set<string>();
  return received.filter(({ id }) => !ids.has(id) && ids.add(id));
}

/**
 * Checks as a receiver does that nothing is missing and nothing out of order: of each object the first receipts of its events go up, and each
 * names the one before it, or says how many it will not get.
 */
export function expectNoGap(received: readonly Received[]): void {
  const last = new Map<string, number>();
  for (const { object, sequence, previous, skipped } of firstReceipts(received)) {
    const known = last.get(object) ?? 0;
    expect(sequence).toBeGreaterThan(known);
    if (skipped === 0) expect([object, sequence, previous]).toEqual([object, sequence, known]);
    else expect(previous).toBeGreaterThan(known);
    last.set(object, sequence);
  }
}

/** Checks that of each object the first receipts of its events go up. */
export function expectInOrder(received: readonly Received[]): void {
  const last = new Map<string, number>();
  for (const { object, sequence } of firstReceipts(received)) {
    expect(sequence).toBeGreaterThan(last.get(object) ?? 0);
    last.set(object, sequence);
  }
}

/** True when a request is signed with the secret, under both families of names, at the time of now. */
export function expectSigned({ headers, body }: Received, secret: string): void {
  const raw = { headers, body: Buffer.from(body) };
  for (const family of ['webhook', 'svix'] as const) {
    const verdict = verifyStandardWebhook(family, raw as never, [secret], Date.now());
    expect([family, verdict]).toEqual([family, 'valid']);
  }
}

type Endpoint = { id: string; secret: string };

/** A database, the API, and workers that send webhooks after these pauses, and keep events for so many days. */
export async function webhookWorld(
  schedule: RetrySchedule = [50, 50, 50],
  { outboundEventDays }: { outboundEventDays?: number } = {},
) {
  const base = await testDatabase({ plansAsInstalled: true });
  const temporal = await testTemporal();
  const { api, gateway } = await testApp(base, temporal);
  const { database, scope } = base;
  const webhooks = {
    policy: testOutgoing,
    secretKeys: testSecretKeys.secretEncryptionKeys,
    renderInvoices,
    schedule,
  };
  const work = async (on: TestDatabase = base): Promise<TestWorkers> => {
    const workers = await startWorkers(on, temporal, { gateway, webhooks, outboundEventDays });
    await startWebhookDelivery(temporal.client, 1);
    return workers;
  };
  return {
    base,
    temporal,
    api,
    work,
    endpoint: (url: string, more: object = {}) =>
      created<Endpoint & Record<string, never>>(api, '/webhooks/endpoints', { url, ...more }),
    /** Commits events of objects, one transaction for all of them. */
    emit: (objects: readonly string[], name: PhaseEvent['name'] | 'event.rejected' = 'subscription.phase.updated') =>
      inSqlTransaction(database, scope, (tx) =>
        writeEvents(
          tx,
          scope,
          objects.map((id) => (name === 'event.rejected' ? toldRejection(id) : toldPhase(id, name))),
        ),
      ),
    rows: <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      inSqlTransaction(database, scope, (tx) => tx.rows<Row>(text, values)),
  };
}

export type WebhookWorld = Awaited<ReturnType<typeof webhookWorld>>;

/** Waits for what comes by itself, for as long as a slow machine may take. */
export const until = (read: () => unknown) => expect.poll(read, { timeout: 60_000, interval: 20 });

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { poll } from '../../dev/processes.ts';
import type { RawNotification } from '../../integrations/provider-notification.ts';
import type { LocalstripeUnderTest } from './localstripe-under-test.ts';

/** A server to which localstripe sends the notifications of captured payment intents. */
export interface ReceivedNotifications {
  /** The notification about an intent, by its id; waits until it comes and fails after half a minute. */
  about(id: string): Promise<RawNotification & { body: Buffer }>;
  close(): void;
}

/** Has localstripe send its notifications, signed by a secret. */
export async function receiveNotifications(
  under: LocalstripeUnderTest,
  secret: string,
): Promise<ReceivedNotifications> {
  const received: (RawNotification & { body: Buffer })[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(200).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = await fetch(`${under.url}/_config/webhooks/check`, {
    method: 'POST',
    body: JSON.stringify({ url, secret, events: ['payment_intent.succeeded'] }),
  });
  assert.equal(answer.status, 200);
  return {
    about: async (id) => {
      const found = await poll(() => received.find(({ body }) => body.includes(`"${id}"`)), 30_000);
      assert.ok(found, `no notification about ${id} came`);
      return found;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

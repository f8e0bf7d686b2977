import { createHmac } from 'node:crypto';
import type { FakeEvent } from './books.ts';

/** A notification as Whop sends it: by the headers of Standard Webhooks, signed with the text of the secret. */
export function signedNotification(event: FakeEvent | object | string, secret: string, atMs = Date.now()) {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const id = typeof event === 'object' && 'id' in event ? String(event.id) : 'msg_1';
  const time = String(Math.floor(atMs / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}

import { createHmac } from 'node:crypto';

/** A notification as Svix sends it for Nomod. */
export interface SentNotification {
  headers: { 'content-type': string; 'svix-id': string; 'svix-timestamp': string; 'svix-signature': string };
  body: string;
}

/** A notification of an event, signed with the secret of a webhook: `whsec_` and base64. */
export function signedNotification(
  { messageId, body: event }: { messageId: string; body: object | string },
  secret: string,
  atMs = Date.now(),
): SentNotification {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const time = String(Math.floor(atMs / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${messageId}.${time}.${body}`).digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'svix-id': messageId,
      'svix-timestamp': time,
      'svix-signature': `v1,${signature}`,
    },
    body,
  };
}

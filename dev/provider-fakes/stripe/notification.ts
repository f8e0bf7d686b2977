import { createHmac } from 'node:crypto';

/** A notification as Stripe sends it. */
export interface SentNotification {
  headers: { 'content-type': string; 'stripe-signature': string };
  body: string;
}

/** A notification of an event, or of any text, signed with the secret of an endpoint. */
export function signedNotification(event: object | string, secret: string, atMs = Date.now()): SentNotification {
  const body = typeof event === 'string' ? event : JSON.stringify(event, null, 2);
  const time = Math.floor(atMs / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${time},v1=${signature}` },
    body,
  };
}

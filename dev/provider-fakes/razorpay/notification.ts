import { createHmac } from 'node:crypto';

/** A notification as Razorpay sends it. */
export interface SentNotification {
  headers: { 'content-type': string; 'x-razorpay-signature': string; 'x-razorpay-event-id': string };
  body: string;
}

/** A notification of an event, signed with the secret of a webhook. */
export function signedNotification(
  { id, body: event }: { id: string; body: object },
  secret: string,
): SentNotification {
  const body = JSON.stringify(event);
  return {
    headers: {
      'content-type': 'application/json',
      'x-razorpay-signature': createHmac('sha256', secret).update(body).digest('hex'),
      'x-razorpay-event-id': id,
    },
    body,
  };
}

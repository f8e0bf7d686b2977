import { createHmac } from 'node:crypto';
import { type FakeEvent, paddleId } from './books.ts';

/** A notification as Paddle sends it: an event signed with the secret of its destination, and with the one before while that is exchanged. */
export function signedNotification(
  event: FakeEvent | object,
  secrets: string | readonly string[],
  { atMs = Date.now() }: { atMs?: number } = {},
) {
  const body = JSON.stringify({ ...event, notification_id: paddleId('ntf') });
  const time = Math.floor(atMs / 1000);
  const signatures = [secrets].flat().map((secret) => {
    return `h1=${createHmac('sha256', secret).update(`${time}:${body}`).digest('hex')}`;
  });
  return {
    headers: { 'content-type': 'application/json', 'paddle-signature': [`ts=${time}`, ...signatures].join(';') },
    body,
  };
}

import type { FakeEvent } from './books.ts';

/** A notification as Chargebee sends it: not signed, with the user and password of its webhook, written `user:password`. */
export function sentNotification(event: FakeEvent | object, credentials: string | null) {
  const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
  return {
    headers: { 'content-type': 'application/json;charset=UTF-8', ...(credentials === null ? {} : { authorization }) },
    body: JSON.stringify(event),
  };
}

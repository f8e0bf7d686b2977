import type { FakeEvent } from './books.ts';

/** A notification as Moyasar sends it: the secret of the address goes along in the body. */
export function sentNotification(event: FakeEvent | object, secret: string | null) {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(secret === null ? event : { ...event, secret_token: secret }),
  };
}

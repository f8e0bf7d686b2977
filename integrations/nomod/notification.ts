import { createHash, timingSafeEqual } from 'node:crypto';
import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import {
  digestOf,
  type ProviderNotification,
  type ProviderNotifications,
  type RawNotification,
} from '../provider-notification.ts';
import { verifyStandardWebhook } from '../standard-webhook.ts';
import { chargeNameOf } from './shapes.ts';

/** Types of events that are passed on. */
const passedOn = /^(charge|checkout|refund)\./;

/**
 * Notifications of Nomod, signed by Svix. They tell of a charge; the page that it was paid on is asked about, and nothing else is believed.
 * A connection without a webhook secret takes those that bring its API key along. spec: platform §16, README decision 31
 */
export const nomodNotifications: ProviderNotifications = {
  proof:
    'the signature of Svix over the bytes says who sent it, where the connection has a `webhook_secret`; where it has none, the header `X-API-KEY` with the key of the connection does',
  headers: ['svix-id', 'svix-timestamp', 'svix-signature'],
  verify: (notification, secrets, nowMs) => verifyStandardWebhook('svix', notification, secrets, nowMs),
  byKey: {
    member: 'api_key',
    verify({ headers }, key) {
      const given = headers['x-api-key'];
      if (!given || given.length === 0) return 'missing';
      return typeof given === 'string' && timingSafeEqual(digest(given), digest(key)) ? 'valid' : 'bad';
    },
  },
  read(notification) {
    const event = jsonObject(notification.body);
    return event === null ? null : readEvent(event, notification);
  },
  refusedBy: 401,
  concerns: (eventType) => passedOn.test(eventType),
  tellsOfRefund: (eventType) => eventType.includes('refund'),
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The message's own id, which Svix signs and repeats, tells events apart: not all of them have one in their body. */
function readEvent(
  event: Readonly<Record<string, unknown>>,
  { headers, body }: RawNotification,
): ProviderNotification | null {
  const eventType = nameIn(event.type);
  if (eventType === null) return null;
  const object = objectMember(event.data) ?? {};
  const checkout = objectMember(object.checkout);
  const isCheckout = eventType.startsWith('checkout.');
  const ownId = nameIn(object.id);
  const checkoutId = isCheckout
    ? ownId
    : ([checkout?.id, object.checkout, object.checkout_id, object.checkoutId].map(nameIn).find((id) => id !== null) ??
      null);
  const chargeId = isCheckout ? null : ownId;
  const name = chargeId !== null && checkoutId !== null ? chargeNameOf(checkoutId, chargeId) : chargeId;
  return {
    eventId: nameIn(headers['svix-id']) ?? nameIn(event.eventId) ?? digestOf(body),
    eventType,
    marker: markerOf(objectMember(object.metadata) ?? {}) ?? markerOf(objectMember(checkout?.metadata) ?? {}),
    objectIds: [name, checkoutId].filter((id) => id !== null),
  };
}

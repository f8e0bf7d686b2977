import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import type { ListedEvent, ProviderNotification, ProviderNotifications } from '../provider-notification.ts';
import { listAll, type StripeClient } from './client.ts';
import { verifyStripeSignature } from './signature.ts';

/** Members by which Stripe's objects name those they belong to, the nearest first. */
const parents = ['payment_intent', 'setup_intent', 'charge'] as const;
/** Types of events that are passed on. Those of an intent that is merely made say nothing that its maker does not know. docs: providers.md */
const passedOn =
  /^(checkout\.session\.|payment_intent\.(succeeded|payment_failed|processing|canceled|requires_action|amount_capturable_updated)$|setup_intent\.(succeeded|setup_failed)$|refund\.|charge\.(refunded|refund\.updated|dispute\.))/;
const ofRefunds = /^(refund\.|charge\.(refunded$|refund\.updated$|dispute\.))/;

/** Notifications of Stripe: an event whose `data.object` is the object as it was then. design: money-in-checkout §C stripe */
export const stripeNotifications: ProviderNotifications = {
  proof: 'the signature over the bytes says who sent it',
  headers: ['stripe-signature'],
  verify({ headers, body }, secrets, nowMs) {
    const header = headers['stripe-signature'];
    return verifyStripeSignature(Array.isArray(header) ? header.join(',') : header, body, secrets, nowMs);
  },
  read({ body }) {
    const event = jsonObject(body);
    return event === null ? null : readStripeEvent(event);
  },
  concerns: (eventType) => passedOn.test(eventType),
  tellsOfRefund: (eventType) => ofRefunds.test(eventType),
};

/** Pages of a hundred events that one reading takes. */
const mostPages = 100;
/** Types that are read; Stripe takes twenty of them at most. */
const listedTypes = [
  ...['completed', 'expired', 'async_payment_succeeded', 'async_payment_failed'].map(
    (type) => `checkout.session.${type}`,
  ),
  ...['succeeded', 'payment_failed', 'processing', 'canceled', 'requires_action'].map(
    (type) => `payment_intent.${type}`,
  ),
  ...['succeeded', 'setup_failed'].map((type) => `setup_intent.${type}`),
  ...['created', 'updated', 'failed'].map((type) => `refund.${type}`),
  ...['created', 'updated', 'closed'].map((type) => `charge.dispute.${type}`),
];

/** Events of an account since an instant, of the types that are passed on: a list of Stripe's is by whole seconds. */
export async function listStripeEvents(client: StripeClient, since: string): Promise<ListedEvent[]> {
  const created = { gte: Math.floor(Date.parse(since) / 1000) };
  const events = await listAll<{ id: string; created: number }>(
    client,
    '/events',
    { created, types: listedTypes },
    mostPages,
  );
  return events.flatMap((event) => {
    const read = readStripeEvent({ ...event });
    const at = new Date(event.created * 1000).toISOString();
    return read ? [{ ...read, at, body: Buffer.from(JSON.stringify(event)) }] : [];
  });
}

/** An event of Stripe, sent or listed; null for what has no id and type of its own. */
export function readStripeEvent(event: Readonly<Record<string, unknown>>): ProviderNotification | null {
  const eventId = nameIn(event.id);
  const eventType = nameIn(event.type);
  if (eventId === null || eventType === null) return null;
  const object = objectMember(objectMember(event.data)?.object) ?? {};
  const metadata = objectMember(object.metadata) ?? {};
  const ids = [object.id, ...parents.map((parent) => object[parent])].map(idOf);
  return {
    eventId,
    eventType,
    marker: markerOf(metadata),
    objectIds: [...new Set(ids.filter((id) => id !== null))],
  };
}

/** An id, also of an object that is there as a whole. */
function idOf(member: unknown): string | null {
  return nameIn(objectMember(member)?.id ?? member);
}

import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import {
  digestOf,
  type ListedEvent,
  type ProviderNotification,
  type ProviderNotifications,
  type RawNotification,
} from '../provider-notification.ts';
import { listAll, type RazorpayClient } from './client.ts';
import { slowestRefundMs } from './refund.ts';
import type { RazorpayRefund } from './shapes.ts';
import { verifyRazorpaySignature } from './signature.ts';

/** Members by which Razorpay's objects name those they belong to, the nearest first. */
const parents = ['payment_id', 'invoice_id', 'order_id'] as const;
/** Types of events that are passed on. Those of orders say nothing that those of links and payments do not say. docs: providers.md */
const passedOn = /^(payment_link\.|invoice\.(paid|expired)$|payment\.(authorized|captured|failed|dispute\.)|refund\.)/;
const ofRefunds = /^refund\./;

/** Notifications of Razorpay: an event with its objects as they were then, named in a header. design: money-in-checkout §C razorpay */
export const razorpayNotifications: ProviderNotifications = {
  proof: 'the signature over the bytes says who sent it',
  headers: ['x-razorpay-signature', 'x-razorpay-event-id'],
  verify: ({ headers, body }, secrets) => verifyRazorpaySignature(headers['x-razorpay-signature'], body, secrets),
  read: readRazorpayEvent,
  concerns: (eventType) => passedOn.test(eventType),
  tellsOfRefund: (eventType) => ofRefunds.test(eventType),
};

/**
 * The event of a notification. Its id is in a header that the signature does not cover; without one it is known by the digest of its bytes, so
 * that a repeat is still the same event.
 */
function readRazorpayEvent({ headers, body }: RawNotification): ProviderNotification | null {
  const event = jsonObject(body);
  const eventType = nameIn(event?.event);
  if (event === null || eventType === null) return null;
  // An event has its object and those it belongs to: the first part of its type says which is which.
  const about = eventType.split('.', 1)[0] ?? '';
  const object = objectMember(objectMember(objectMember(event.payload)?.[about])?.entity) ?? {};
  const ids = [object.id, ...parents.map((parent) => object[parent])].map(nameIn);
  return {
    eventId: nameIn(headers['x-razorpay-event-id']) ?? digestOf(body),
    eventType,
    marker: markerOf(objectMember(object.notes) ?? {}),
    objectIds: [...new Set(ids.filter((id) => id !== null))],
  };
}

/** Pages of a hundred refunds that one reading takes. */
const mostPages = 100;

/**
 * Refunds of an account since an instant, as events: Razorpay lists no events, and the state of what it was asked to do is asked for anyway; a
 * refund that somebody makes there nobody asks about. One counts when it is processed, so that those are read that may have been since.
 * Throws `GatewayOutcomeUnknown`. design: money-in-checkout §B18
 */
export async function listRazorpayRefunds(client: RazorpayClient, since: string): Promise<ListedEvent[]> {
  const from = Math.floor((Date.parse(since) - slowestRefundMs) / 1000);
  const filter = { from: String(from) };
  const refunds = await listAll<RazorpayRefund>(client, '/refunds', { filter, mostPages });
  return refunds.flatMap((refund): ListedEvent[] => {
    const event = `refund.${refund.status === 'pending' ? 'created' : refund.status}`;
    const body = Buffer.from(JSON.stringify({ entity: 'event', event, payload: { refund: { entity: refund } } }));
    const headers = { 'x-razorpay-event-id': `${refund.id}/${refund.status}` };
    const read = readRazorpayEvent({ headers, body });
    const at = new Date(refund.created_at * 1000).toISOString();
    return read ? [{ ...read, at, body, isDerived: true }] : [];
  });
}

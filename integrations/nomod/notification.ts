import { createHash, timingSafeEqual } from 'node:crypto';
import { jsonObject, markerOf, markerOfReturn, nameIn, objectMember } from '../notification-json.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import {
  digestOf,
  type ListedEvent,
  type ProviderNotification,
  type ProviderNotifications,
  type RawNotification,
} from '../provider-notification.ts';
import { verifyStandardWebhook } from '../standard-webhook.ts';
import type { NomodClient } from './client.ts';
import { chargeNameOf, type NomodCharges, refundTotalOf } from './shapes.ts';

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
  tellsOfRefund,
};

function tellsOfRefund(eventType: string): boolean {
  return eventType.includes('refund');
}

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
  const marker = markerOf(objectMember(object.metadata) ?? {}) ?? markerOf(objectMember(checkout?.metadata) ?? {});
  return {
    eventId: nameIn(headers['svix-id']) ?? nameIn(event.eventId) ?? digestOf(body),
    eventType,
    marker: tellsOfRefund(eventType) ? markerOfReturn(marker) : marker,
    objectIds: [name, checkoutId].filter((id) => id !== null),
  };
}

const pageSize = 100;
/** Time that a refund is expected to take at most: it shows in the sum when it is done, and in the list under the time it was made at. */
const slowestRefundMs = 16 * 86_400_000;
/** Pages that one reading takes. */
const mostPages = 100;

/**
 * Charges of checkouts of which money may have gone back since an instant, as events: Nomod lists none. Where the key may open checkouts and not read
 * charges there are none. Throws `GatewayOutcomeUnknown`. design: money-in-checkout §B18
 */
export async function listNomodRefunds(client: NomodClient, since: string): Promise<ListedEvent[]> {
  const listed = await Promise.all(['refunded', 'partially_refunded'].map((status) => listCharges(client, status)));
  const from = new Date(Date.parse(since) - slowestRefundMs).toISOString();
  return listed.flat().flatMap((charge): ListedEvent[] => {
    const { id, status, refunds } = charge;
    const times = (refunds ?? []).map(({ created }) => Date.parse(created)).filter(Number.isFinite);
    const at = times.length === 0 ? since : new Date(Math.max(...times)).toISOString();
    const data = { id, status, refund_total: refundTotalOf(charge) };
    const event = { eventId: `${id}/${data.refund_total}`, type: `charge.${status}`, data };
    const body = Buffer.from(JSON.stringify(event));
    const read = at < from ? null : readEvent(event, { headers: {}, body });
    return read ? [{ ...read, at, body, isDerived: true }] : [];
  });
}

async function listCharges(client: NomodClient, status: string): Promise<NomodCharges['results']> {
  const all: NomodCharges['results'] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const query = new URLSearchParams({ type: 'checkout', status, page: String(page), page_size: String(pageSize) });
    const answer = await client.find<NomodCharges>(`/charges?${query}`);
    if (answer === null) return all;
    all.push(...answer.results.filter((charge) => charge.status === status));
    if (answer.next === null) return all;
  }
  throw new GatewayOutcomeUnknown(`nomod has more than ${mostPages * pageSize} refunded charges to look through`);
}

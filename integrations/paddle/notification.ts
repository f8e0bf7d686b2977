import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import type {
  ListedEvent,
  NotificationMarker,
  ProviderNotification,
  ProviderNotifications,
} from '../provider-notification.ts';
import type { PaddleClient } from './client.ts';
import { markerOfReason } from './refund.ts';
import type { PaddleEvent } from './shapes.ts';
import { verifyPaddleSignature } from './signature.ts';

/** Types of events that are passed on. Those of a transaction that is merely made or begun say nothing that its page does not ask. docs: providers.md */
const passedOn = [
  ...['paid', 'completed', 'payment_failed', 'canceled', 'past_due'].map((type) => `transaction.${type}`),
  ...['created', 'updated'].map((type) => `adjustment.${type}`),
];

/** Notifications of Paddle: an event whose `data` is the object as it was then. design: money-in-checkout §C paddle */
export const paddleNotifications: ProviderNotifications = {
  proof: 'the signature over the bytes says who sent it',
  headers: ['paddle-signature'],
  verify: ({ headers, body }, secrets, nowMs) =>
    verifyPaddleSignature(headers['paddle-signature'], body, secrets, nowMs),
  read({ body }) {
    const event = jsonObject(body);
    return event === null ? null : readPaddleEvent(event);
  },
  concerns: (eventType) => passedOn.includes(eventType),
  tellsOfRefund: (eventType) => eventType.startsWith('adjustment.'),
};

/**
 * Events of an account since an instant, of the types that are passed on. Paddle lists them by a cursor alone, so the newest are read first,
 * page by page until they are older. Throws `GatewayOutcomeUnknown`. design: money-in-checkout §B18
 */
export async function listPaddleEvents(client: PaddleClient, since: string): Promise<ListedEvent[]> {
  const query = { order_by: 'id[DESC]', per_page: '200', event_type: passedOn.join(',') };
  const isNew = ({ occurred_at }: PaddleEvent) => Date.parse(occurred_at) >= Date.parse(since);
  const events = await client.list<PaddleEvent>('/events', query, isNew);
  return events.filter(isNew).flatMap((event) => {
    const read = readPaddleEvent({ ...event });
    if (read === null || !passedOn.includes(read.eventType)) return [];
    const at = new Date(event.occurred_at).toISOString();
    return [{ ...read, at, body: Buffer.from(JSON.stringify(event)) }];
  });
}

/** An event of Paddle, sent or listed; null for what has no id and type of its own. */
function readPaddleEvent(event: Readonly<Record<string, unknown>>): ProviderNotification | null {
  const eventId = nameIn(event.event_id);
  const eventType = nameIn(event.event_type);
  if (eventId === null || eventType === null) return null;
  const object = objectMember(event.data) ?? {};
  const isAdjustment = eventType.startsWith('adjustment.');
  const ids = isAdjustment ? [object.id, object.transaction_id] : [latestAttemptOf(object), object.id];
  return {
    eventId,
    eventType,
    marker: isAdjustment ? markerOfAdjustment(object) : markerOf(objectMember(object.custom_data) ?? {}),
    objectIds: [...new Set(ids.map(nameIn).filter((id) => id !== null))],
  };
}

/** An adjustment has no data of ours: its reason names the refund. */
function markerOfAdjustment({ reason }: Readonly<Record<string, unknown>>): NotificationMarker | null {
  return typeof reason === 'string' ? markerOfReason(reason) : null;
}

/** The attempt that an event of a transaction is about: with it money is told apart from the page that it came by. Paddle lists the newest first. */
function latestAttemptOf({ payments }: Readonly<Record<string, unknown>>): unknown {
  return Array.isArray(payments) ? objectMember(payments[0])?.payment_attempt_id : undefined;
}

import { createHash, timingSafeEqual } from 'node:crypto';
import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import type { ProviderNotification, ProviderNotifications } from '../provider-notification.ts';

/** Types of events that are passed on. Moyasar's own page writes `payment_faild`. */
const passedOn = /^payment_(paid|failed|faild|authorized|captured|refunded|voided|canceled|expired|abandoned)$/;

/**
 * Notifications of Moyasar, which signs nothing: the body has the secret of the address as `secret_token`. So whoever knows the secret
 * can say anything, and nothing but the object it is about is believed; the bytes are kept without the secret.
 * spec: platform §16; design: money-in-checkout §C moyasar
 */
export const moyasarNotifications: ProviderNotifications = {
  proof: '`secret_token` in the body says who sent it, and is not kept',
  headers: [],
  verify({ body }, secrets) {
    const given = jsonObject(body)?.secret_token;
    if (typeof given !== 'string' || given === '') return 'missing';
    let isOurs = false;
    for (const secret of secrets.filter(Boolean)) if (timingSafeEqual(digest(given), digest(secret))) isOurs = true;
    return isOurs ? 'valid' : 'bad';
  },
  read({ body }) {
    const event = jsonObject(body);
    return event === null ? null : readEvent(event);
  },
  kept(body) {
    const { secret_token: _, ...event } = jsonObject(body) ?? {};
    return Buffer.from(JSON.stringify(event));
  },
  refusedBy: 401,
  concerns: (eventType) => passedOn.test(eventType),
  tellsOfRefund: (eventType) => eventType === 'payment_refunded' || eventType === 'payment_voided',
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function readEvent(event: Readonly<Record<string, unknown>>): ProviderNotification | null {
  const eventId = nameIn(event.id);
  const eventType = nameIn(event.type);
  if (eventId === null || eventType === null) return null;
  const payment = objectMember(event.data) ?? {};
  const ids = [payment.id, payment.invoice_id].map(nameIn).filter((id) => id !== null);
  return { eventId, eventType, marker: markerOf(objectMember(payment.metadata) ?? {}), objectIds: [...new Set(ids)] };
}

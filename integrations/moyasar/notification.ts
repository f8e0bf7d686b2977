import { createHash, timingSafeEqual } from 'node:crypto';
import { jsonObject, markerOf, markerOfReturn, nameIn, objectMember } from '../notification-json.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import type { ListedEvent, ProviderNotification, ProviderNotifications } from '../provider-notification.ts';
import { type MoyasarClient, objectOf } from './client.ts';
import { isCaptured } from './payment.ts';
import type { MoyasarPayment, MoyasarPayments } from './shapes.ts';

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
  tellsOfRefund,
};

function tellsOfRefund(eventType: string): boolean {
  return eventType === 'payment_refunded' || eventType === 'payment_voided';
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function readEvent(event: Readonly<Record<string, unknown>>): ProviderNotification | null {
  const eventId = nameIn(event.id);
  const eventType = nameIn(event.type);
  if (eventId === null || eventType === null) return null;
  const payment = objectMember(event.data) ?? {};
  const ids = [payment.id, payment.invoice_id].map(nameIn).filter((id) => id !== null);
  const marker = markerOf(objectMember(payment.metadata) ?? {});
  return {
    eventId,
    eventType,
    marker: tellsOfRefund(eventType) ? markerOfReturn(marker) : marker,
    objectIds: [...new Set(ids)],
  };
}

/** Pages of forty payments that one reading takes. */
const mostPages = 100;

/**
 * Payments that changed since an instant, as events: Moyasar lists none. So a refund that somebody made there is found without a notification,
 * and each step of a refund of ours is looked at once more. Throws `GatewayOutcomeUnknown`. design: money-in-checkout §B18
 */
export async function listMoyasarPayments(client: MoyasarClient, since: string): Promise<ListedEvent[]> {
  const changed: MoyasarPayment[] = [];
  let next: number | null = 1;
  while (next !== null) {
    if (next > mostPages) throw new GatewayOutcomeUnknown('moyasar has more changed payments than one reading takes');
    const page: MoyasarPayments = await pageOfPayments(client, since, next);
    changed.push(...page.payments.filter(({ updated_at }) => Date.parse(updated_at) > Date.parse(since)));
    next = page.meta.next_page;
  }
  return changed.flatMap((payment): ListedEvent[] => {
    const type = typeOf(payment);
    const event = { id: `${payment.id}/${payment.updated_at}`, type, data: payment };
    const read = type === null ? null : readEvent(event);
    const at = new Date(payment.updated_at).toISOString();
    return read ? [{ ...read, at, body: Buffer.from(JSON.stringify(event)), isDerived: true }] : [];
  });
}

async function pageOfPayments(client: MoyasarClient, since: string, page: number): Promise<MoyasarPayments> {
  const query = { 'updated[gt]': since, page: String(page) };
  return objectOf(await client.get<MoyasarPayments>('/payments', query), 'list payments');
}

/** Type of the event that tells of a payment as it is; null where it waits. */
function typeOf(payment: MoyasarPayment): string | null {
  if (payment.refunded > 0) return 'payment_refunded';
  if (payment.status === 'voided') return 'payment_voided';
  if (isCaptured(payment)) return 'payment_paid';
  return payment.status === 'failed' ? 'payment_failed' : null;
}

import { createHash, timingSafeEqual } from 'node:crypto';
import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import type { ListedEvent, ProviderNotification, ProviderNotifications } from '../provider-notification.ts';
import { namesIn } from './charge.ts';
import { type ChargebeeClient, listAll } from './client.ts';

/** Types of events that are passed on, and read from the list of the site. docs: providers.md */
const passedOn = [
  'payment_succeeded',
  'payment_failed',
  'payment_initiated',
  'payment_refunded',
  'refund_initiated',
  'transaction_created',
  'transaction_updated',
  'invoice_generated',
  'invoice_updated',
  'payment_source_added',
];
/** Those that may tell of money that goes back: a payment may also fail, be changed or leave its invoice after it had succeeded. */
const ofRefunds = new Set([
  'payment_failed',
  'payment_refunded',
  'refund_initiated',
  'transaction_created',
  'transaction_updated',
  'invoice_updated',
]);

/**
 * Notifications of Chargebee, which signs nothing: it calls with the user and password of its webhook, so that the bytes are proved by nothing
 * and have no time. Nothing in them is believed but which object they are about; that is read from Chargebee.
 * spec: platform §16; design: money-in-checkout §C chargebee
 */
export const chargebeeNotifications: ProviderNotifications = {
  proof: 'the user and password of the webhook, sent as HTTP Basic, say who sent it, and are not kept',
  headers: [],
  verify({ headers }, secrets) {
    const given = credentialsIn(headers.authorization);
    if (given === null) return 'missing';
    let isOurs = false;
    for (const secret of secrets.filter(Boolean)) if (timingSafeEqual(digest(given), digest(secret))) isOurs = true;
    return isOurs ? 'valid' : 'bad';
  },
  read({ body }) {
    const event = jsonObject(body);
    return event === null ? null : readChargebeeEvent(event);
  },
  refusedBy: 401,
  verifiedBy: 'webhook_username and webhook_password',
  concerns: (eventType) => passedOn.includes(eventType),
  tellsOfRefund: (eventType) => ofRefunds.has(eventType),
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** User and password of a header of HTTP Basic, as `user:password`; null for any other header. */
function credentialsIn(header: string | string[] | undefined): string | null {
  const encoded = typeof header === 'string' ? /^basic +([\w+/=-]+) *$/i.exec(header)?.[1] : undefined;
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('utf8');
}

/** An event of Chargebee, sent or listed; null for what has no id and type of its own. */
export function readChargebeeEvent(event: Readonly<Record<string, unknown>>): ProviderNotification | null {
  const eventId = nameIn(event.id);
  const eventType = nameIn(event.event_type);
  if (eventId === null || eventType === null) return null;
  const content = objectMember(event.content) ?? {};
  const transaction = objectMember(content.transaction) ?? {};
  const ofInvoice = linkedIn(objectMember(content.invoice)?.linked_payments, 'txn_id');
  const invoice = objectMember(content.invoice) ?? {};
  // The charge of a saved card is an invoice of its own, and no payment of the page on which it was saved.
  const ofCharge = namesIn(invoice.notes);
  const charged =
    ofCharge.perennial_token === undefined ? linkedIn(transaction.linked_invoices, 'invoice_id') : [invoice.id];
  const ids = [transaction.id, ...paymentsOf(transaction), ...ofInvoice, ...charged]
    .map(nameIn)
    .filter((id) => id !== null);
  // Before it has succeeded a payment is its page's; money that goes back is the payment's, although that is of a page.
  const isPayment = transaction.type === 'payment' && transaction.status !== 'late_failure';
  const isOfPage = isPayment || eventType === 'payment_source_added';
  const ofPage = isOfPage ? markerOf(metadataOf(objectMember(content.customer))) : null;
  const marker = ofCharge.perennial_token === undefined ? ofPage : isOfPage ? markerOf(ofCharge) : null;
  return { eventId, eventType, marker, objectIds: [...new Set(ids)] };
}

/** Ids of the payments that a refund or reversal is of. */
function paymentsOf({ refunded_txn_id, reference_transaction_id, linked_payments }: Record<string, unknown>) {
  return [refunded_txn_id, reference_transaction_id, ...linkedIn(linked_payments, 'id')];
}

/** A member of each entry of a list; none where it is no list. */
function linkedIn(list: unknown, member: string): unknown[] {
  return Array.isArray(list) ? list.map((each) => objectMember(each)?.[member]) : [];
}

/** Our marker at the customer of a page: an object, or the text of one. */
function metadataOf(customer: Readonly<Record<string, unknown>> | null): Readonly<Record<string, unknown>> {
  const left = customer?.meta_data;
  return (typeof left === 'string' ? jsonObject(Buffer.from(left)) : objectMember(left)) ?? {};
}

/** Pages of a hundred events that one reading takes. */
const mostPages = 100;

/** Events of a site since an instant, of the types that are passed on: Chargebee lists by whole seconds. Throws `GatewayOutcomeUnknown`. */
export async function listChargebeeEvents(client: ChargebeeClient, since: string): Promise<ListedEvent[]> {
  const after = Math.floor(Date.parse(since) / 1000) - 1;
  const filter = {
    'event_type[in]': JSON.stringify(passedOn),
    'occurred_at[after]': String(after),
    'sort_by[asc]': 'occurred_at',
  };
  const entries = await listAll<{ event: Record<string, unknown> & { occurred_at: number } }>(client, '/events', {
    filter,
    mostPages,
  });
  return entries.flatMap(({ event }) => {
    const read = readChargebeeEvent(event);
    const at = new Date(event.occurred_at * 1000).toISOString();
    return read ? [{ ...read, at, body: Buffer.from(JSON.stringify(event)) }] : [];
  });
}

import { jsonObject, markerOf, nameIn, objectMember } from '../notification-json.ts';
import type { ListedEvent, ProviderNotification, ProviderNotifications } from '../provider-notification.ts';
import { verifyStandardWebhook } from '../standard-webhook.ts';
import { listAll, type WhopClient } from './client.ts';
import { instantOf, isCaptured, isDeclined } from './payment.ts';
import { slowestRefundMs } from './refund.ts';
import type { WhopPayment, WhopRefund, WhopSetup } from './shapes.ts';

/** Types of events that are passed on. A payment that is merely made says nothing. docs: providers.md */
const passedOn =
  /^(payment\.(succeeded|failed|pending)|setup_intent\.(succeeded|canceled|requires_action)|(refund|dispute)\.(created|updated))$/;
const ofRefunds = /^refund\./;

/** Notifications of Whop: an event whose `data` is the object as it was then. design: money-in-checkout §C whop */
export const whopNotifications: ProviderNotifications = {
  proof: 'the signature over id, time and bytes says who sent it',
  headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  verify: (notification, secrets, nowMs) => verifyStandardWebhook('webhook', notification, secrets, nowMs),
  read({ headers, body }) {
    const event = jsonObject(body);
    return event === null ? null : readWhopEvent(event, headers['webhook-id']);
  },
  refusedBy: 401,
  concerns: (eventType) => passedOn.test(eventType),
  tellsOfRefund: (eventType) => ofRefunds.test(eventType),
};

/** The event of a notification, by the id that its signature covers; null for what has no id and type of its own. */
function readWhopEvent(event: Readonly<Record<string, unknown>>, signedId: unknown): ProviderNotification | null {
  const eventId = nameIn(signedId) ?? nameIn(event.id);
  const eventType = nameIn(event.type);
  if (eventId === null || eventType === null) return null;
  const object = objectMember(event.data) ?? {};
  const payment = objectMember(object.payment) ?? {};
  const plan = objectMember(object.plan) ?? {};
  const page = objectMember(object.checkout_configuration) ?? {};
  // A payment by the address of its plan alone has that one's marks.
  const marker = [object, plan]
    .map(({ metadata }) => markerOf(objectMember(metadata) ?? {}))
    .find((each) => each !== null);
  const ids = [object.id, payment.id, object.checkout_configuration_id, page.id]
    .map(nameIn)
    .filter((id) => id !== null);
  return { eventId, eventType, marker: marker ?? null, objectIds: [...new Set(ids)] };
}

/** Time that the saving of a card takes at most from its beginning, with its payer's bank. */
const slowestSetupMs = 3_600_000;
/** Pages of a hundred objects that one reading takes. */
const mostPages = 100;

/**
 * Payments that changed since an instant, cards that were saved since, and refunds that may have, as events: Whop lists none. Throws `GatewayOutcomeUnknown`.
 * design: money-in-checkout §B18
 */
export async function listWhopEvents(client: WhopClient, since: string): Promise<ListedEvent[]> {
  const company = { company_id: client.companyId };
  const changed = { ...company, updated_after: since };
  const payments = await listAll<WhopPayment>(client, '/payments', changed, mostPages);
  const made = { ...company, created_after: new Date(Date.parse(since) - slowestRefundMs).toISOString() };
  const refunds = await listAll<WhopRefund>(client, '/refunds', made, mostPages);
  const begun = { ...company, created_after: new Date(Date.parse(since) - slowestSetupMs).toISOString() };
  const setups = await listAll<WhopSetup>(client, '/setup_intents', begun, mostPages);
  return [
    ...setups
      .filter(({ status }) => status === 'succeeded')
      .flatMap((setup) => derived('setup_intent.succeeded', setup, setup.created_at)),
    ...payments.flatMap((payment) => {
      const type = isCaptured(payment) ? 'succeeded' : isDeclined(payment) ? 'failed' : null;
      return type === null ? [] : derived(`payment.${type}`, payment, payment.updated_at);
    }),
    ...refunds.flatMap((refund) => derived('refund.updated', refund, refund.created_at)),
  ];
}

function derived(type: string, data: WhopPayment | WhopRefund | WhopSetup, at: string): ListedEvent[] {
  const event = { id: `${data.id}/${data.status}`, type, data };
  const read = readWhopEvent({ ...event }, null);
  return read ? [{ ...read, at: instantOf(at), body: Buffer.from(JSON.stringify(event)), isDerived: true }] : [];
}

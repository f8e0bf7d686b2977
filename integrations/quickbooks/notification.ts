import { verifyHmac } from '../hmac-signature.ts';
import { jsonList, jsonObject, nameIn, objectMember } from '../notification-json.ts';
import { digestOf, type ProviderNotifications } from '../provider-notification.ts';

/**
 * Notifications of QuickBooks, signed over the raw bytes with the verifier token of the app. They are kept; nothing here follows payments and
 * invoices there yet. spec: platform §16
 */
export const quickbooksNotifications: ProviderNotifications = {
  proof: '`intuit-signature`, made with the verifier token over the bytes, says who sent it',
  headers: ['intuit-signature'],
  verify: ({ headers, body }, secrets) => verifyHmac(headers['intuit-signature'], 'base64', secrets, [body]),
  read({ body }) {
    const eventType = typeIn(body);
    return eventType === null ? null : { eventId: digestOf(body), eventType, marker: null, objectIds: [] };
  },
  refusedBy: 401,
  verifiedBy: 'webhook_verifier_token',
  concerns: () => false,
  tellsOfRefund: () => false,
};

/** Type of the first change, as QuickBooks writes it: `qbo.invoice.updated.v1` of an event, or `Invoice.Update` of its older form. */
function typeIn(body: Uint8Array): string | null {
  const [event] = jsonList(body) ?? [];
  if (event !== undefined) return nameIn(objectMember(event)?.type);
  const [notification] = listIn(jsonObject(body)?.eventNotifications);
  const [entity] = listIn(objectMember(objectMember(notification)?.dataChangeEvent)?.entities);
  const [name, operation] = [nameIn(objectMember(entity)?.name), nameIn(objectMember(entity)?.operation)];
  return name === null || operation === null ? null : `${name}.${operation}`;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

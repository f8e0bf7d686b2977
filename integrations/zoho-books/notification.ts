import { verifyHmac } from '../hmac-signature.ts';
import { jsonObject } from '../notification-json.ts';
import { digestOf, type ProviderNotifications } from '../provider-notification.ts';

/**
 * Notifications of Zoho Books: signed with the secret token of the webhook over the query of its address, sorted by its names, and the raw bytes.
 * Their content is chosen by people at Zoho. They are kept; nothing here follows invoices and contacts there yet. spec: platform §16
 */
export const zohoBooksNotifications: ProviderNotifications = {
  proof:
    '`X-Zoho-Webhook-Signature`, made with the webhook secret over the query of the address, sorted by its names, and the bytes, says who sent it',
  headers: ['x-zoho-webhook-signature'],
  verify: ({ headers, body, url }, secrets) =>
    verifyHmac(headers['x-zoho-webhook-signature'], 'hex', secrets, [sortedQuery(url), body]),
  read({ body }) {
    const event = jsonObject(body);
    return event && { eventId: digestOf(body), eventType: 'webhook', marker: null, objectIds: [] };
  },
  refusedBy: 401,
  concerns: () => false,
  tellsOfRefund: () => false,
};

/** Names and values of a query one behind the other, in the order of the names. */
function sortedQuery(url = ''): string {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  query.sort();
  return [...query].flat().join('');
}

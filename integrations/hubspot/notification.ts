import { verifyHmac } from '../hmac-signature.ts';
import { jsonList, nameIn, objectMember } from '../notification-json.ts';
import { digestOf, type ProviderNotifications, type RawNotification } from '../provider-notification.ts';

const toleranceMs = 300_000;

/**
 * Notifications of HubSpot, a list of changes at once: signed with the client secret of the app over method, address, bytes and time. They are
 * kept; nothing here follows deals yet. spec: platform §16
 */
export const hubspotNotifications: ProviderNotifications = {
  proof: '`X-HubSpot-Signature-v3`, made with the client secret over method, address, bytes and time, says who sent it',
  headers: ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp'],
  // An app has no webhook secret.
  verify: () => 'bad',
  byKey: {
    member: 'client_secret',
    verify({ headers, body, url = '' }: RawNotification, key: string, nowMs: number) {
      const time = headers['x-hubspot-request-timestamp'];
      const isTime = typeof time === 'string' && /^\d{1,15}$/.test(time);
      const verdict = verifyHmac(headers['x-hubspot-signature-v3'], 'base64', isTime ? [key] : [], [
        `POST${url}`,
        body,
        String(time),
      ]);
      const isOld = verdict === 'valid' && Math.abs(nowMs - Number(time)) > toleranceMs;
      return isOld ? 'clock' : verdict;
    },
  },
  read({ body }) {
    const [first] = jsonList(body) ?? [];
    const eventType = nameIn(objectMember(first)?.subscriptionType);
    return eventType === null ? null : { eventId: digestOf(body), eventType, marker: null, objectIds: [] };
  },
  refusedBy: 401,
  verifiedBy: 'client_secret',
  concerns: () => false,
  tellsOfRefund: () => false,
};

import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hubspotNotifications } from '../../../integrations/hubspot/notification.ts';
import { quickbooksNotifications } from '../../../integrations/quickbooks/notification.ts';
import { zohoBooksNotifications } from '../../../integrations/zoho-books/notification.ts';

const now = Date.UTC(2026, 10, 28);
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a notification of HubSpot', () => {
  const body = bytes([{ subscriptionType: 'deal.propertyChange', objectId: 1 }]);
  const url = 'https://billing.example/v1/webhooks/hubspot/tenant_1/env_1';
  const signatureOf = (signed: string, time: number, secret = 'app_secret') =>
    createHmac('sha256', secret).update(`POST${signed}`).update(body).update(String(time)).digest('base64');
  const verdictOf = (changes: Record<string, string | undefined>, called = url) => {
    const headers = {
      'x-hubspot-signature-v3': signatureOf(url, now),
      'x-hubspot-request-timestamp': String(now),
      ...changes,
    };
    return hubspotNotifications.byKey!.verify({ headers, body, url: called }, 'app_secret', now);
  };

  test.each<[what: string, changes: Record<string, string | undefined>, called: string, verdict: string]>([
    ['that is signed', {}, url, 'valid'],
    ['for another address', {}, `${url}x`, 'bad'],
    ['at another time than was signed', { 'x-hubspot-request-timestamp': String(now + 1) }, url, 'bad'],
    ['without a time', { 'x-hubspot-request-timestamp': undefined }, url, 'bad'],
    ['with a time that is none', { 'x-hubspot-request-timestamp': 'now' }, url, 'bad'],
    ['without a signature', { 'x-hubspot-signature-v3': undefined }, url, 'missing'],
    ['with a signature that is none', { 'x-hubspot-signature-v3': 'aa' }, url, 'bad'],
    ['of another app', { 'x-hubspot-signature-v3': signatureOf(url, now, 'another') }, url, 'bad'],
  ])('%s', (_, changes, called, verdict) => expect(verdictOf(changes, called)).toBe(verdict));

  test('that is more than five minutes old is refused because of its time', () => {
    for (const [minutes, verdict] of [
      [4, 'valid'],
      [6, 'clock'],
    ] as const) {
      const time = now - minutes * 60_000;
      const changes = {
        'x-hubspot-signature-v3': signatureOf(url, time),
        'x-hubspot-request-timestamp': String(time),
      };
      expect(verdictOf(changes)).toBe(verdict);
    }
  });

  test('is known by the type of its first change, and one without changes is none', () => {
    expect(hubspotNotifications.read({ headers: {}, body })).toMatchObject({ eventType: 'deal.propertyChange' });
    for (const other of [[], {}, [1], [{ subscriptionType: 1 }]]) {
      expect(hubspotNotifications.read({ headers: {}, body: bytes(other) })).toBeNull();
    }
  });
});

describe('a notification of QuickBooks', () => {
  const typeOf = (value: unknown) => quickbooksNotifications.read({ headers: {}, body: bytes(value) })?.eventType;
  const older = (entities: unknown) => ({ eventNotifications: [{ realmId: '1', dataChangeEvent: { entities } }] });

  test('is known by its type in both of its forms, and by its bytes', () => {
    expect(typeOf([{ specversion: '1.0', type: 'qbo.invoice.updated.v1' }])).toBe('qbo.invoice.updated.v1');
    expect(typeOf(older([{ name: 'Payment', operation: 'Create' }]))).toBe('Payment.Create');
    for (const none of [[], {}, older([]), older(null), older([{ name: 'Payment' }]), { eventNotifications: {} }]) {
      expect(typeOf(none)).toBeUndefined();
    }
  });

  test('is signed with the present verifier token or the one before', () => {
    const body = bytes(older([]));
    const signature = createHmac('sha256', 'before').update(body).digest('base64');
    const verify = (tokens: string[]) =>
      quickbooksNotifications.verify({ headers: { 'intuit-signature': signature }, body }, tokens, now);
    expect([verify(['present', 'before']), verify(['present']), verify(['']), verify([])]).toEqual([
      'valid',
      'bad',
      'bad',
      'bad',
    ]);
  });
});

describe('a notification of Zoho Books', () => {
  // The example of Zoho's own page.
  const body = Buffer.from('{"created_date":"2019-03-06","event_id":"5675"}');
  const signed = `namebasicsubscription_id90343${body}`;
  const headers = { 'x-zoho-webhook-signature': createHmac('sha256', 'token').update(signed).digest('hex') };
  const verify = (url?: string) =>
    zohoBooksNotifications.verify({ headers, body, ...(url ? { url } : {}) }, ['token'], now);

  test('is signed with its query too, in the order of the names', () => {
    expect(verify('https://billing.example/v1/webhooks?subscription_id=90343&name=basic')).toBe('valid');
    expect(verify('https://billing.example/v1/webhooks?name=basic&subscription_id=90343')).toBe('valid');
    for (const other of ['?name=basic', '?name=basic&subscription_id=1', '', undefined]) {
      expect(verify(other && `https://billing.example/v1/webhooks${other}`)).toBe('bad');
    }
  });
});

import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { razorpayNotifications } from '../../../integrations/razorpay/notification.ts';

const secret = 'present';
const former = 'former';
const now = Date.UTC(2026, 10, 25, 12);
const body = Buffer.from('{"entity":"event","event":"payment_link.paid","payload":{}}');

const sign = (key: string, of: Uint8Array = body) => createHmac('sha256', key).update(of).digest('hex');
const verify = (signature: string | string[] | undefined, secrets = [secret], of: Uint8Array = body, atMs = now) =>
  razorpayNotifications.verify({ headers: { 'x-razorpay-signature': signature }, body: of }, secrets, atMs);

describe('the signature of a notification of Razorpay', () => {
  test.each<[what: string, signature: string | string[] | undefined, verdict: string]>([
    ['is missing', undefined, 'missing'],
    ['is empty', '', 'missing'],
    ['is an empty list', [], 'missing'],
    ['is right', sign(secret), 'valid'],
    ['is right in capitals', sign(secret).toUpperCase(), 'valid'],
    ['is by another secret', sign('other'), 'bad'],
    ['is by the secret before, which is not valid any more', sign(former), 'bad'],
    ['is cut short', sign(secret).slice(0, -1), 'bad'],
    ['is longer', `${sign(secret)}0`, 'bad'],
    ['has an end of line behind it', `${sign(secret)}\n`, 'bad'],
    ['is no hexadecimal', 'z'.repeat(64), 'bad'],
    ['came twice', [sign(secret), sign(secret)], 'bad'],
    ['is base64', createHmac('sha256', secret).update(body).digest('base64'), 'bad'],
  ])('%s', (_, signature, verdict) => {
    expect(verify(signature)).toBe(verdict);
  });

  test('may be of the secret before while that is valid too', () => {
    expect(verify(sign(former), [secret, former])).toBe('valid');
    expect(verify(sign(secret), [secret, former])).toBe('valid');
    expect(verify(sign('other'), [secret, former])).toBe('bad');
  });

  test('covers no time, so that no clock matters', () => {
    for (const days of [-3650, -1, 1, 3650]) {
      expect(verify(sign(secret), [secret], body, now + days * 86_400_000)).toBe('valid');
    }
  });

  test('is never right without a secret, not even by an empty one', () => {
    expect(verify(sign(secret), [])).toBe('bad');
    expect(verify(sign(''), [''])).toBe('bad');
  });

  test('covers every byte of the body, and bytes that are no text', () => {
    for (let at = 0; at < body.length; at += 7) {
      const tampered = Buffer.from(body);
      tampered[at]! ^= 1;
      expect(verify(sign(secret), [secret], tampered)).toBe('bad');
    }
    expect(verify(sign(secret), [secret], body.subarray(1))).toBe('bad');
    const noText = Buffer.from([0xff, 0xfe, 0x00]);
    expect(verify(sign(secret, noText), [secret], noText)).toBe('valid');
  });
});

describe('a notification of Razorpay', () => {
  const readBytes = (bytes: Uint8Array, headers: Record<string, string> = { 'x-razorpay-event-id': 'evt_1' }) =>
    razorpayNotifications.read({ headers, body: bytes });
  const read = (value: unknown, headers?: Record<string, string>) =>
    readBytes(Buffer.from(JSON.stringify(value)), headers);
  const marker = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1' };
  const link = { id: 'plink_1', order_id: 'order_1', notes: { ...marker, other: 7 } };
  const payment = { id: 'pay_1', order_id: 'order_1', notes: marker };

  test('of a link or a payment says which object it is about, by our names and by those of Razorpay', () => {
    const payload = { payment_link: { entity: link }, payment: { entity: payment } };
    expect(read({ event: 'payment_link.paid', payload })).toEqual({
      eventId: 'evt_1',
      eventType: 'payment_link.paid',
      marker,
      objectIds: ['plink_1', 'order_1'],
    });
    expect(read({ event: 'payment.captured', payload })).toMatchObject({ marker, objectIds: ['pay_1', 'order_1'] });
  });

  test('of a refund in the dashboard is about its payment, although that has our name of a session', () => {
    const refund = { id: 'rfnd_1', payment_id: 'pay_1', notes: [] };
    const payload = { refund: { entity: refund }, payment: { entity: payment } };
    expect(read({ event: 'refund.processed', payload })).toMatchObject({
      marker: null,
      objectIds: ['rfnd_1', 'pay_1'],
    });
  });

  test('without its id is known by its bytes, the same each time', () => {
    const event = { event: 'payment_link.paid', payload: {} };
    const [first, again] = [read(event, {}), read(event, {})];
    expect(first?.eventId).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(again?.eventId).toBe(first?.eventId);
    expect(read({ ...event, created_at: 1 }, {})?.eventId).not.toBe(first?.eventId);
    expect(read(event, { 'x-razorpay-event-id': 'x'.repeat(256) })?.eventId).toBe(first?.eventId);
  });

  test.each([
    ['without notes', { id: 'pay_1' }, { marker: null, objectIds: ['pay_1'] }],
    ['with half a marker', { id: 'pay_1', notes: { kind: 'payment', id: 'pay_1' } }, { marker: null }],
    ['with notes that are no object', { id: 'pay_1', notes: 'a' }, { marker: null }],
    ['with an id that is no text', { id: 7 }, { objectIds: [] }],
    ['with an id that no id is as long as', { id: 'x'.repeat(256) }, { objectIds: [] }],
    ['without an object', undefined, { marker: null, objectIds: [] }],
    ['with a NUL in an id', { id: 'pay\0' }, { objectIds: [] }],
  ])('%s is about as much as it says', (_, entity, told) => {
    expect(read({ event: 'payment.captured', payload: { payment: { entity } } })).toMatchObject(told);
  });

  test.each<[what: string, bytes: Uint8Array]>([
    ['no UTF-8', Buffer.concat([Buffer.from('{"event":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['no JSON', Buffer.from('{"event":"payment.captured"')],
    ['nothing', Buffer.alloc(0)],
    ['a list', Buffer.from('[1]')],
    ['null', Buffer.from('null')],
    ['an event without a type', Buffer.from('{"event":"","payload":{}}')],
    ['an event with a NUL', Buffer.from('{"event":"payment\\u0000"}')],
  ])('that is %s is none', (_, bytes) => {
    expect(readBytes(bytes)).toBeNull();
  });

  test.each([
    ['payment_link.paid', true, false],
    ['payment_link.cancelled', true, false],
    ['payment.authorized', true, false],
    ['payment.captured', true, false],
    ['payment.failed', true, false],
    ['payment.dispute.created', true, false],
    ['payment.downtime.started', false, false],
    ['refund.created', true, true],
    ['refund.processed', true, true],
    ['refund.failed', true, true],
    ['order.paid', false, false],
    ['token.confirmed', false, false],
    ['settlement.processed', false, false],
  ])('of type %s is passed on: %s, and tells of a refund: %s', (type, concerns, tells) => {
    expect(razorpayNotifications.concerns(type)).toBe(concerns);
    expect(razorpayNotifications.tellsOfRefund(type)).toBe(tells);
  });
});

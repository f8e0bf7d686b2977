import { describe, expect, test } from 'vitest';
import { signedNotification } from '../../../dev/provider-fakes/nomod/notification.ts';
import { nomodNotifications } from '../../../integrations/nomod/notification.ts';

const secretOf = (name: string) => `whsec_${Buffer.from(name.padEnd(24, '.')).toString('base64')}`;
const [secret, former, other] = [secretOf('present'), secretOf('former'), secretOf('other')];
const now = Date.UTC(2026, 10, 27, 12);
const minuteMs = 60_000;
const charge = { id: 'ch_1', status: 'paid', total: '12.500', currency: 'AED' };
const event = { type: 'charge.completed', data: charge };

function signed(by = secret, { atMs = now, body = event }: { atMs?: number; body?: object | string } = {}) {
  return signedNotification({ messageId: 'msg_1', body }, by, atMs);
}

type Headers = Record<string, string | string[] | undefined>;

function verify({ headers, body }: { headers: Headers; body: string | Buffer }, secrets = [secret]) {
  return nomodNotifications.verify({ headers, body: Buffer.from(body) }, secrets, now);
}

/** A notification that is signed rightly, with other headers. */
function withHeaders(changes: Headers) {
  const { headers, body } = signed();
  return { headers: { ...headers, ...changes }, body };
}

const signatureOf = (by: string) => signed(by).headers['svix-signature'];

describe('the signature of a notification of Nomod', () => {
  test.each<[what: string, notification: { headers: Headers; body: string }, verdict: string]>([
    ['is missing', withHeaders({ 'svix-signature': undefined }), 'missing'],
    ['has no id', withHeaders({ 'svix-id': undefined }), 'bad'],
    ['has no time', withHeaders({ 'svix-timestamp': undefined }), 'bad'],
    ['is empty', withHeaders({ 'svix-signature': '' }), 'missing'],
    ['is right', signed(), 'valid'],
    [
      'is the second of two',
      withHeaders({ 'svix-signature': `${signatureOf(other)} ${signatureOf(secret)}` }),
      'valid',
    ],
    ['is by another secret', signed(other), 'bad'],
    ['is by the secret before, which is not valid any more', signed(former), 'bad'],
    ['is for another id', withHeaders({ 'svix-id': 'msg_2' }), 'bad'],
    ['is for another time', withHeaders({ 'svix-timestamp': String(now / 1000 + 1) }), 'bad'],
    ['has a time that is no number', withHeaders({ 'svix-timestamp': 'now' }), 'bad'],
    ['came as two headers', withHeaders({ 'svix-signature': [signatureOf(secret), signatureOf(other)] }), 'bad'],
    ['is of another version', withHeaders({ 'svix-signature': signatureOf(secret).replace('v1,', 'v1a,') }), 'bad'],
    ['is cut short', withHeaders({ 'svix-signature': signatureOf(secret).slice(0, -8) }), 'bad'],
    ['is nonsense', withHeaders({ 'svix-signature': 'nonsense' }), 'bad'],
    ['is five minutes old', signed(secret, { atMs: now - 5 * minuteMs }), 'valid'],
    ['is older than five minutes', signed(secret, { atMs: now - 5 * minuteMs - 1000 }), 'clock'],
    ['is of a clock ten minutes fast', signed(secret, { atMs: now + 10 * minuteMs }), 'clock'],
    ['is old and by another secret', signed(other, { atMs: now - 10 * minuteMs }), 'bad'],
  ])('%s', (_, notification, verdict) => {
    expect(verify(notification)).toBe(verdict);
  });

  test('is taken by the secret before while that is valid too', () => {
    expect(verify(signed(former), [secret, former])).toBe('valid');
    expect(verify(signed(), [secret, former])).toBe('valid');
    expect(verify(signed(other), [secret, former])).toBe('bad');
  });

  test('is never right without a secret, nor by one that is no base64', () => {
    expect(verify(signed(), [])).toBe('bad');
    for (const none of ['', 'whsec_', 'a secret!']) expect(verify(signed(none), [none])).toBe('bad');
  });

  test('covers every byte of the body, and bytes that are no text', () => {
    const { headers, body } = signed();
    for (let at = 0; at < body.length; at += 7) {
      const tampered = Buffer.from(body);
      tampered[at]! ^= 1;
      expect(verify({ headers, body: tampered })).toBe('bad');
    }
    expect(verify({ headers, body: body.slice(1) })).toBe('bad');
  });
});

describe('the key of a connection that has no webhook secret', () => {
  test.each<[what: string, header: string | string[] | undefined, verdict: string]>([
    ['is missing', undefined, 'missing'],
    ['is empty', '', 'missing'],
    ['is right', 'sk_1', 'valid'],
    ['is another', 'sk_2', 'bad'],
    ['is longer', 'sk_1 ', 'bad'],
    ['came twice', ['sk_1', 'sk_1'], 'bad'],
  ])('%s', (_, header, verdict) => {
    const notification = { headers: { 'x-api-key': header }, body: Buffer.from('{}') };
    expect(nomodNotifications.byKey!.verify(notification, 'sk_1', now)).toBe(verdict);
    // Beside a webhook secret it says nothing.
    expect(nomodNotifications.verify(notification, [secret, 'sk_1'], now)).toBe('missing');
  });
});

describe('a notification of Nomod', () => {
  const read = (body: object | string | Buffer, headers: Headers = { 'svix-id': 'msg_1' }) =>
    nomodNotifications.read({
      headers,
      body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    });

  test('is known by the id of its message, else by its own, else by its bytes', () => {
    expect(read(event)).toMatchObject({ eventId: 'msg_1', eventType: 'charge.completed' });
    expect(read({ ...event, eventId: 'evt_1' })).toMatchObject({ eventId: 'msg_1' });
    expect(read({ ...event, eventId: 'evt_1' }, {})).toMatchObject({ eventId: 'evt_1' });
    expect(read(event, {})!.eventId).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('says which charge it is about, and by which page that was paid where it names one', () => {
    expect(read(event)).toMatchObject({ marker: null, objectIds: ['ch_1'] });
    for (const more of [
      { checkout: { id: 'co_1' } },
      { checkout: 'co_1' },
      { checkout_id: 'co_1' },
      { checkoutId: 'co_1' },
    ])
      expect(read({ ...event, data: { ...charge, ...more } })).toMatchObject({ objectIds: ['co_1/ch_1', 'co_1'] });
    expect(read({ type: 'checkout.paid', data: { id: 'co_1' } })).toMatchObject({ objectIds: ['co_1'] });
  });

  test('names our object where its charge or page carries our marks', () => {
    const marker = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1' };
    const metadata = { ...marker, token: 'pn_1' };
    expect(read({ ...event, data: { ...charge, metadata } })).toMatchObject({ marker });
    expect(read({ ...event, data: { ...charge, checkout: { id: 'co_1', metadata } } })).toMatchObject({ marker });
    expect(read({ ...event, data: { ...charge, metadata: { id: 'cs_1' } } })).toMatchObject({ marker: null });
  });

  test('without an object, or with ids that are none, is about nothing', () => {
    for (const data of [undefined, null, [], { id: 7 }, { id: 'ch\0' }, { id: 'x'.repeat(256) }])
      expect(read({ ...event, data })).toMatchObject({ objectIds: [], marker: null });
  });

  test.each<[what: string, body: object | string | Buffer]>([
    ['no JSON', '{"type":"charge.completed"'],
    ['nothing', ''],
    ['a list', '[1]'],
    ['no UTF-8', Buffer.from([0x7b, 0xc3, 0x28])],
    ['without a type', { ...event, type: '' }],
    ['with a NUL', { ...event, type: 'charge\0' }],
  ])('that is %s is none', (_, body) => {
    expect(read(body)).toBeNull();
  });

  test.each([
    ['charge.completed', true, false],
    ['charge.failed', true, false],
    ['charge.authorised', true, false],
    ['charge.refunded', true, true],
    ['charge.partially_refunded', true, true],
    ['checkout.paid', true, false],
    ['invoice.paid', false, false],
    ['payout.completed', false, false],
  ])('of type %s is passed on: %s, and tells of money that goes back: %s', (type, concerns, isOfRefund) => {
    expect(nomodNotifications.concerns(type)).toBe(concerns);
    expect(nomodNotifications.tellsOfRefund(type)).toBe(isOfRefund);
  });
});

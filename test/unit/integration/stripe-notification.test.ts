import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { stripeNotifications } from '../../../integrations/stripe/notification.ts';

const secret = 'whsec_present';
const former = 'whsec_former';
const now = Date.UTC(2026, 10, 25, 12);
const minuteMs = 60_000;
const body = Buffer.from('{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1"}}}');

function v1(key: string, atMs = now, of: Uint8Array = body): string {
  return createHmac('sha256', key)
    .update(`${atMs / 1000}.`)
    .update(of)
    .digest('hex');
}
const header = (key: string, atMs = now) => `t=${atMs / 1000},v1=${v1(key, atMs)}`;
const verify = (signature: string | string[] | undefined, secrets = [secret], of: Uint8Array = body) =>
  stripeNotifications.verify({ headers: { 'stripe-signature': signature }, body: of }, secrets, now);

describe('the signature of a notification of Stripe', () => {
  test.each<[what: string, signature: string | string[] | undefined, verdict: string]>([
    ['is missing', undefined, 'missing'],
    ['is empty', '', 'missing'],
    ['is right', header(secret), 'valid'],
    ['is right with spaces behind the commas', header(secret).replace(',', ', '), 'valid'],
    ['is right beside one of another scheme', `${header(secret)},v0=${'0'.repeat(64)}`, 'valid'],
    ['is the second of two, while Stripe rotates', `t=${now / 1000},v1=${v1('whsec_next')},v1=${v1(secret)}`, 'valid'],
    ['came as two headers', [`t=${now / 1000}`, `v1=${v1(secret)}`], 'valid'],
    ['is by another secret', header('whsec_other'), 'bad'],
    ['is by the secret before, which is not valid any more', header(former), 'bad'],
    ['is for another time', `t=${now / 1000 + 1},v1=${v1(secret)}`, 'bad'],
    ['has no time', `v1=${v1(secret)}`, 'bad'],
    ['has a time that is no number', `t=now,v1=${v1(secret)}`, 'bad'],
    ['has a time of too many digits', `t=${'9'.repeat(40)},v1=${v1(secret)}`, 'bad'],
    ['has a time alone', `t=${now / 1000}`, 'bad'],
    ['is of the old scheme alone', `t=${now / 1000},v0=${v1(secret)}`, 'bad'],
    ['is cut short', header(secret).slice(0, -1), 'bad'],
    ['is longer', `${header(secret)}0`, 'bad'],
    ['is no hexadecimal', `t=${now / 1000},v1=${'z'.repeat(64)}`, 'bad'],
    ['is nonsense', 'nonsense', 'bad'],
    ['is five minutes old', header(secret, now - 5 * minuteMs), 'valid'],
    ['is older than five minutes', header(secret, now - 5 * minuteMs - 1000), 'clock'],
    ['is of a clock ten minutes slow', header(secret, now - 10 * minuteMs), 'clock'],
    ['is of a clock ten minutes fast', header(secret, now + 10 * minuteMs), 'clock'],
    ['is old and by another secret', header('whsec_other', now - 10 * minuteMs), 'bad'],
    ['is three days old', header(secret, now - 3 * 24 * 60 * minuteMs), 'clock'],
  ])('%s', (_, signature, verdict) => {
    expect(verify(signature)).toBe(verdict);
  });

  test('is taken by the secret before while that is valid too', () => {
    expect(verify(header(former), [secret, former])).toBe('valid');
    expect(verify(header(secret), [secret, former])).toBe('valid');
    expect(verify(header('whsec_other'), [secret, former])).toBe('bad');
  });

  test('is never right without a secret, not even by an empty one', () => {
    expect(verify(header(secret), [])).toBe('bad');
    expect(verify(header(''), [''])).toBe('bad');
    expect(verify(undefined, [])).toBe('missing');
  });

  test('covers every byte of the body, and bytes that are no text', () => {
    for (let at = 0; at < body.length; at += 7) {
      const tampered = Buffer.from(body);
      tampered[at]! ^= 1;
      expect(verify(header(secret), [secret], tampered)).toBe('bad');
    }
    expect(verify(header(secret), [secret], body.subarray(1))).toBe('bad');
    const noText = Buffer.from([0xff, 0xfe, 0x00]);
    expect(verify(`t=${now / 1000},v1=${v1(secret, now, noText)}`, [secret], noText)).toBe('valid');
  });
});

describe('a notification of Stripe', () => {
  const read = (value: unknown) => stripeNotifications.read({ headers: {}, body: Buffer.from(JSON.stringify(value)) });

  test('says which object it is about, by our names and by those of Stripe', () => {
    const object = {
      id: 're_1',
      object: 'refund',
      payment_intent: 'pi_1',
      charge: { id: 'ch_1' },
      metadata: { environment: 'env_1', kind: 'refund', id: 'refund_1' },
    };
    expect(read({ id: 'evt_1', type: 'refund.failed', data: { object } })).toEqual({
      eventId: 'evt_1',
      eventType: 'refund.failed',
      marker: { environment: 'env_1', kind: 'refund', id: 'refund_1' },
      objectIds: ['re_1', 'pi_1', 'ch_1'],
    });
  });

  test.each([
    ['without metadata', { id: 'pi_1' }, { marker: null, objectIds: ['pi_1'] }],
    ['with half a marker', { id: 'pi_1', metadata: { kind: 'payment', id: 'pay_1' } }, { marker: null }],
    ['with metadata that is no object', { id: 'pi_1', metadata: ['a'] }, { marker: null }],
    ['with an id that is no text', { id: 7, payment_intent: null }, { objectIds: [] }],
    ['with an id that no id is as long as', { id: 'x'.repeat(256) }, { objectIds: [] }],
    ['without an object', undefined, { marker: null, objectIds: [] }],
    ['with a NUL in an id', { id: 'pi\0' }, { objectIds: [] }],
    ['with text that only looks like a NUL', { id: 'pi_1', description: 'C:\\u0000' }, { objectIds: ['pi_1'] }],
  ])('%s is about as much as it says', (_, object, told) => {
    expect(read({ id: 'evt_1', type: 'x', data: { object } })).toMatchObject(told);
  });

  test.each<[what: string, bytes: Uint8Array]>([
    ['no UTF-8', Buffer.concat([Buffer.from('{"id":"evt_1","type":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['no JSON', Buffer.from('{"id":"evt_1"')],
    ['nothing', Buffer.alloc(0)],
    ['a list', Buffer.from('[1]')],
    ['null', Buffer.from('null')],
    ['a NUL', Buffer.from('{"id":"evt\\u0000","type":"x"}')],
    ['an event without an id', Buffer.from('{"type":"x"}')],
    ['an event without a type', Buffer.from('{"id":"evt_1","type":""}')],
  ])('that is %s is none', (_, bytes) => {
    expect(stripeNotifications.read({ headers: {}, body: bytes })).toBeNull();
  });

  test.each([
    ['payment_intent.succeeded', true],
    ['payment_intent.payment_failed', true],
    ['payment_intent.created', false],
    ['checkout.session.expired', true],
    ['refund.failed', true],
    ['charge.refunded', true],
    ['charge.dispute.created', true],
    ['charge.succeeded', false],
    ['customer.created', false],
    ['product.updated', false],
  ])('of type %s is passed on: %s', (type, concerns) => {
    expect(stripeNotifications.concerns(type)).toBe(concerns);
  });

  test.each([
    ['refund.created', true],
    ['charge.refunded', true],
    ['charge.dispute.closed', true],
    ['payment_intent.succeeded', false],
  ])('of type %s tells of money that goes back: %s', (type, tells) => {
    expect(stripeNotifications.tellsOfRefund(type)).toBe(tells);
  });
});

import { describe, expect, test } from 'vitest';
import { sentNotification } from '../../../dev/provider-fakes/moyasar/notification.ts';
import { moyasarNotifications } from '../../../integrations/moyasar/notification.ts';

const now = Date.UTC(2026, 10, 27, 12);
const payment = { id: 'pay_1', status: 'paid', invoice_id: 'inv_1', metadata: null };
const event = { id: 'evt_1', type: 'payment_paid', created_at: '2026-11-27T12:00:00Z', data: payment };
const bytesOf = (more: object | string) => Buffer.from(typeof more === 'string' ? more : JSON.stringify(more));
const verify = (body: object | string, secrets = ['present'], nowMs = now) =>
  moyasarNotifications.verify({ headers: {}, body: bytesOf(body) }, secrets, nowMs);
const read = (body: object | string | Buffer) =>
  moyasarNotifications.read({ headers: {}, body: Buffer.isBuffer(body) ? body : bytesOf(body) });

describe('the secret token of a notification of Moyasar', () => {
  test.each<[what: string, body: object | string, verdict: string]>([
    ['is missing', event, 'missing'],
    ['is empty', { ...event, secret_token: '' }, 'missing'],
    ['is no text', { ...event, secret_token: ['present'] }, 'missing'],
    ['is beside no JSON', 'secret_token=present', 'missing'],
    ['is deeper inside', { ...event, data: { secret_token: 'present' } }, 'missing'],
    ['is right', { ...event, secret_token: 'present' }, 'valid'],
    ['is another', { ...event, secret_token: 'presenT' }, 'bad'],
    ['is cut short', { ...event, secret_token: 'presen' }, 'bad'],
    ['is longer', { ...event, secret_token: 'present ' }, 'bad'],
  ])('%s', (_, body, verdict) => {
    expect(verify(body)).toBe(verdict);
  });

  test('is taken by the secret before while that is valid too, and never without one', () => {
    const former = { ...event, secret_token: 'former' };
    expect(verify(former, ['present', 'former'])).toBe('valid');
    expect(verify(former, ['present'])).toBe('bad');
    expect(verify(former, [])).toBe('bad');
    expect(verify({ ...event, secret_token: '' }, [''])).toBe('missing');
  });

  test('has no time, so that no clock refuses it', () => {
    const { body } = sentNotification(event, 'present');
    for (const days of [-30, 0, 30]) expect(verify(body, ['present'], now + days * 86_400_000)).toBe('valid');
  });

  test('is not kept', () => {
    const { body } = sentNotification(event, 'present');
    const kept = Buffer.from(moyasarNotifications.kept!(Buffer.from(body))).toString();
    expect(JSON.parse(kept)).toEqual(event);
    expect(kept).not.toContain('present');
  });
});

describe('a notification of Moyasar', () => {
  test('says which payment it is about, and which invoice that is of', () => {
    expect(read(event)).toEqual({
      eventId: 'evt_1',
      eventType: 'payment_paid',
      marker: null,
      objectIds: ['pay_1', 'inv_1'],
    });
    const metadata = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1' };
    expect(read({ ...event, data: { ...payment, metadata } })).toMatchObject({ marker: metadata });
  });

  test.each([
    ['with half a marker', { ...event, data: { ...payment, metadata: { kind: 'payment', id: 'pay_1' } } }],
    ['with metadata that is no object', { ...event, data: { ...payment, metadata: ['a'] } }],
  ])('%s has none', (_, body) => {
    expect(read(body)).toMatchObject({ marker: null, objectIds: ['pay_1', 'inv_1'] });
  });

  test('without a payment, or with ids that are none, is about nothing', () => {
    for (const data of [undefined, null, [], { id: 7 }, { id: 'pay\0' }, { id: 'x'.repeat(256) }])
      expect(read({ ...event, data })).toMatchObject({ objectIds: [], marker: null });
  });

  test.each<[what: string, body: object | string | Buffer]>([
    ['no JSON', '{"id":"evt_1"'],
    ['nothing', ''],
    ['a list', '[1]'],
    ['no UTF-8', Buffer.from([0x7b, 0xc3, 0x28])],
    ['without an id', { ...event, id: undefined }],
    ['without a type', { ...event, type: '' }],
    ['with a NUL', { ...event, id: 'evt\0' }],
  ])('that is %s is none', (_, body) => {
    expect(read(body)).toBeNull();
  });

  test.each([
    ['payment_paid', true],
    ['payment_failed', true],
    ['payment_faild', true],
    ['payment_captured', true],
    ['payment_refunded', true],
    ['payment_verified', false],
    ['balance_transferred', false],
    ['payout_paid', false],
  ])('of type %s is passed on: %s', (type, concerns) => {
    expect(moyasarNotifications.concerns(type)).toBe(concerns);
  });
});

import { describe, expect, test } from 'vitest';
import { sentNotification } from '../../../dev/provider-fakes/chargebee/notification.ts';
import { chargebeeNotifications } from '../../../integrations/chargebee/notification.ts';

const now = Date.UTC(2026, 10, 27, 12);
const marks = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1' };
const payment = { id: 'txn_1', type: 'payment', status: 'success' };
const customer = { id: 'pn_1', meta_data: marks };
const event = { id: 'ev_1', event_type: 'payment_succeeded', content: { transaction: payment, customer } };
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const verify = (authorization: string | string[] | undefined, secrets = ['user:present'], nowMs = now) =>
  chargebeeNotifications.verify({ headers: { authorization }, body: Buffer.from('{}') }, secrets, nowMs);
const read = (body: object | string | Buffer) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return chargebeeNotifications.read({ headers: {}, body: Buffer.isBuffer(body) ? body : Buffer.from(text) });
};

describe('the user and password of a notification of Chargebee', () => {
  test.each<[what: string, header: string | string[] | undefined, verdict: string]>([
    ['are missing', undefined, 'missing'],
    ['are empty', '', 'missing'],
    ['are no Basic', 'Bearer dXNlcjpwcmVzZW50', 'missing'],
    ['are no Base64', 'Basic ???', 'missing'],
    ['came twice', [basic('user:present'), basic('user:present')], 'missing'],
    ['are right', basic('user:present'), 'valid'],
    ['are right, in small letters', basic('user:present').replace('Basic', 'basic'), 'valid'],
    ['have another password', basic('user:presenT'), 'bad'],
    ['have another user', basic('User:present'), 'bad'],
    ['are cut short', basic('user:presen'), 'bad'],
    ['are longer', basic('user:present '), 'bad'],
    ['have no password', basic('user:'), 'bad'],
    ['are nothing', basic(':'), 'bad'],
  ])('%s', (_, header, verdict) => {
    expect(verify(header)).toBe(verdict);
  });

  test('are taken by those before while they are valid too, and never without any', () => {
    const former = basic('user:former');
    expect(verify(former, ['user:present', 'user:former'])).toBe('valid');
    expect(verify(former, ['user:present'])).toBe('bad');
    expect(verify(former, [])).toBe('bad');
    expect(verify(basic(''), [''])).toBe('missing');
  });

  test('have no time, so that no clock refuses them', () => {
    const { headers } = sentNotification(event, 'user:present');
    const { authorization } = headers as Record<string, string>;
    for (const days of [-30, 0, 30]) {
      expect(verify(authorization, ['user:present'], now + days * 86_400_000)).toBe('valid');
    }
  });
});

describe('a notification of Chargebee', () => {
  test('says which payment it is about, and whose page it was made on', () => {
    expect(read(event)).toEqual({
      eventId: 'ev_1',
      eventType: 'payment_succeeded',
      marker: marks,
      objectIds: ['txn_1'],
    });
    const asText = { ...customer, meta_data: JSON.stringify(marks) };
    expect(read({ ...event, content: { transaction: payment, customer: asText } })).toMatchObject({ marker: marks });
  });

  test('of a charge of a saved card is about the charge, and not about the page on which the card was saved', () => {
    const charge = { environment: 'env_1', kind: 'payment', id: 'pay_1' };
    const note = JSON.stringify({ ...charge, perennial_token: 'pn_1' });
    const invoice = { id: 'inv_1', notes: [{ note: 'Thank you' }, { note }], linked_payments: [{ txn_id: 'txn_1' }] };
    const charged = { ...event, content: { transaction: payment, customer, invoice } };
    expect(read(charged)).toMatchObject({ marker: charge, objectIds: ['txn_1', 'inv_1'] });
    const alone = { ...payment, linked_invoices: [{ invoice_id: 'inv_1' }] };
    const created = { ...event, content: { transaction: alone } };
    expect(read(created)).toMatchObject({ marker: null, objectIds: ['txn_1', 'inv_1'] });
  });

  test('of a card that was saved is about its page', () => {
    const added = {
      id: 'ev_5',
      event_type: 'payment_source_added',
      content: { customer, payment_source: { id: 'pm_1' } },
    };
    expect(read(added)).toMatchObject({ marker: marks, objectIds: [] });
    expect(chargebeeNotifications.concerns('payment_source_added')).toBe(true);
  });

  test('of a refund is about its payment and not about the page', () => {
    const refund = { id: 'txn_2', type: 'refund', status: 'success', linked_payments: [{ id: 'txn_1' }] };
    const refunded = { id: 'ev_2', event_type: 'payment_refunded', content: { transaction: refund, customer } };
    expect(read(refunded)).toMatchObject({ marker: null, objectIds: ['txn_2', 'txn_1'] });
    const { linked_payments: _, ...named } = { ...refund, refunded_txn_id: 'txn_1' };
    expect(read({ ...refunded, content: { transaction: named } })).toMatchObject({ objectIds: ['txn_2', 'txn_1'] });
  });

  test('of a payment that failed late is about the payment, and may tell of money that went back', () => {
    const transaction = { ...payment, status: 'late_failure' };
    const failed = { id: 'ev_3', event_type: 'payment_failed', content: { transaction, customer } };
    expect(read(failed)).toMatchObject({ marker: null, objectIds: ['txn_1'] });
    expect(chargebeeNotifications.tellsOfRefund('payment_failed')).toBe(true);
    expect(chargebeeNotifications.tellsOfRefund('payment_succeeded')).toBe(false);
  });

  test('of an invoice is about the payments that paid it', () => {
    const invoice = { id: '7', linked_payments: [{ txn_id: 'txn_1' }, { txn_id: 'txn_3' }] };
    const updated = { id: 'ev_4', event_type: 'invoice_updated', content: { invoice } };
    expect(read(updated)).toMatchObject({ marker: null, objectIds: ['txn_1', 'txn_3'] });
    expect(chargebeeNotifications.tellsOfRefund('invoice_updated')).toBe(true);
  });

  test.each([
    ['half a marker', { meta_data: { kind: 'payment', id: 'pay_1' } }],
    ['a marker that is a list', { meta_data: ['a'] }],
    ['a marker that is no JSON', { meta_data: 'a' }],
    ['no customer', undefined],
  ])('with %s has none', (_, other) => {
    const content = { transaction: payment, customer: other };
    expect(read({ ...event, content })).toMatchObject({ marker: null, objectIds: ['txn_1'] });
  });

  test('without a transaction, or with ids that are none, is about nothing', () => {
    for (const transaction of [undefined, null, [], { id: 7 }, { id: 'txn\0' }, { id: 'x'.repeat(256) }])
      expect(read({ ...event, content: { transaction } })).toMatchObject({ objectIds: [], marker: null });
    expect(read({ ...event, content: { transaction: { ...payment, linked_payments: [null, 7, 'a'] } } })).toMatchObject(
      {
        objectIds: ['txn_1'],
      },
    );
  });

  test.each<[what: string, body: object | string | Buffer]>([
    ['no JSON', '{"id":"ev_1"'],
    ['nothing', ''],
    ['a list', '[1]'],
    ['no UTF-8', Buffer.from([0x7b, 0xc3, 0x28])],
    ['without an id', { ...event, id: undefined }],
    ['without a type', { ...event, event_type: '' }],
    ['with a NUL', { ...event, id: 'ev\0' }],
  ])('that is %s is none', (_, body) => {
    expect(read(body)).toBeNull();
  });

  test.each([
    ['payment_succeeded', true],
    ['payment_failed', true],
    ['payment_initiated', true],
    ['payment_refunded', true],
    ['refund_initiated', true],
    ['transaction_updated', true],
    ['invoice_generated', true],
    ['invoice_updated', true],
    ['invoice_deleted', false],
    ['customer_created', false],
    ['subscription_renewed', false],
  ])('of type %s is passed on: %s', (type, concerns) => {
    expect(chargebeeNotifications.concerns(type)).toBe(concerns);
  });
});

import { afterAll, describe, expect, test } from 'vitest';
import { signedNotification } from '../../../dev/provider-fakes/paddle/notification.ts';
import { captureBeside, payTransaction } from '../../../dev/provider-fakes/paddle/payment.ts';
import { startPaddleFake } from '../../../dev/provider-fakes/paddle/server.ts';
import { paddleAdapter } from '../../../integrations/paddle/adapter.ts';
import { paddleNotifications } from '../../../integrations/paddle/notification.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { opened } from '../../support/gateways/gateway-under-test.ts';
import { paddleUnderTest } from '../../support/gateways/paddle-under-test.ts';

const now = Date.UTC(2026, 10, 27, 12);
const transaction = {
  id: 'txn_1',
  status: 'paid',
  custom_data: null as object | null,
  payments: [{ payment_attempt_id: 'attempt_2' }, { payment_attempt_id: 'attempt_1' }],
};
const event = {
  event_id: 'evt_1',
  event_type: 'transaction.paid',
  occurred_at: '2026-11-27T12:00:00Z',
  data: transaction,
};
const sent = (secrets: string | string[], more: object = {}, atMs = now) =>
  signedNotification({ ...event, ...more }, secrets, { atMs });
type Sent = ReturnType<typeof sent>;
const verify = (
  { headers, body }: { headers: Record<string, string>; body: string },
  secrets = ['present'],
  at = now,
) => paddleNotifications.verify({ headers, body: Buffer.from(body) }, secrets, at);
const read = (body: object | string | Buffer) =>
  paddleNotifications.read({
    headers: {},
    body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });

describe('the signature of a notification of Paddle', () => {
  const withHeader = (change: (header: string) => string): Sent => {
    const { headers, body } = sent('present');
    return { headers: { ...headers, 'paddle-signature': change(headers['paddle-signature']) }, body };
  };

  test.each<[what: string, notification: Sent, verdict: string]>([
    ['fits', sent('present'), 'valid'],
    ['is of another secret', sent('other'), 'bad'],
    ['fits the second of two', sent(['other', 'present']), 'valid'],
    ['fits the first of two', sent(['present', 'other']), 'valid'],
    ['is of other bytes', { ...sent('present'), body: `${sent('present').body} ` }, 'bad'],
    ['has another time', withHeader((header) => header.replace(/ts=\d+/, `ts=${now / 1000 + 1}`)), 'bad'],
    ['has no time', withHeader((header) => header.replace(/ts=\d+;/, '')), 'bad'],
    ['is cut short', withHeader((header) => header.slice(0, -1)), 'bad'],
    ['is in upper case', withHeader((header) => header.replace(/[a-f0-9]{64}/, (hex) => hex.toUpperCase())), 'bad'],
    ['is parted by commas', withHeader((header) => header.replace(';', ',')), 'bad'],
    ['is empty', withHeader(() => ''), 'missing'],
    ['has spaces between its members', withHeader((header) => header.replace(';', '; ')), 'valid'],
  ])('%s', (_, notification, verdict) => {
    expect(verify(notification)).toBe(verdict);
  });

  test('is missing', () => {
    expect(verify({ headers: {}, body: sent('present').body })).toBe('missing');
  });

  test('is taken by the secret before while that is valid too, and never without one', () => {
    expect(verify(sent('former'), ['present', 'former'])).toBe('valid');
    expect(verify(sent('former'), ['present'])).toBe('bad');
    expect(verify(sent(''), [''])).toBe('bad');
    expect(verify(sent('present'), [])).toBe('bad');
  });

  test.each([
    [300, 'valid'],
    [301, 'clock'],
    [-300, 'valid'],
    [-301, 'clock'],
  ])('%i s beside our clock is %s; a forged one is never told of the clock', (seconds, verdict) => {
    expect(verify(sent('present'), ['present'], now + seconds * 1000)).toBe(verdict);
    expect(verify(sent('other'), ['present'], now + 3_600_000)).toBe('bad');
  });
});

describe('a notification of Paddle', () => {
  test('says which attempt it is about, and of which transaction, and has the same id each time', () => {
    const told = { eventId: 'evt_1', eventType: 'transaction.paid', objectIds: ['attempt_2', 'txn_1'], marker: null };
    expect(read(sent('present').body)).toEqual(told);
    expect(read({ ...JSON.parse(sent('present').body), notification_id: 'ntf_2' })).toEqual(told);
    const custom_data = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1', perennial_token: 'pn_1' };
    const { perennial_token: _, ...marker } = custom_data;
    expect(read({ ...event, data: { ...transaction, custom_data } })).toMatchObject({ marker });
  });

  test('of a refund says which payment it is of, and by its reason which refund of ours', () => {
    const token = `pn_${'a'.repeat(26)}`;
    const data = { id: 'adj_1', transaction_id: 'txn_1', reason: `refund re_1 of env_1: ${token}` };
    const told = { objectIds: ['adj_1', 'txn_1'], marker: { environment: 'env_1', kind: 'refund', id: 're_1' } };
    expect(read({ ...event, event_type: 'adjustment.updated', data })).toMatchObject(told);
    for (const reason of ['goodwill', token, 'refund re_1 of env_1: pn_short', 7]) {
      const other = { ...event, event_type: 'adjustment.created', data: { ...data, reason } };
      expect(read(other)).toMatchObject({ objectIds: ['adj_1', 'txn_1'], marker: null });
    }
  });

  test('without an object, or with ids that are none, is about nothing', () => {
    for (const data of [undefined, null, [], { id: 7 }, { id: 'txn\0' }, { id: 'x'.repeat(256), payments: [null] }])
      expect(read({ ...event, data })).toMatchObject({ objectIds: [], marker: null });
  });

  test.each<[what: string, body: object | string | Buffer]>([
    ['no JSON', '{"event_id":"evt_1"'],
    ['nothing', ''],
    ['a list', '[1]'],
    ['no UTF-8', Buffer.from([0x7b, 0xc3, 0x28])],
    ['without an id', { ...event, event_id: undefined }],
    ['without a type', { ...event, event_type: '' }],
    ['with a NUL', { ...event, event_id: 'evt\0' }],
  ])('that is %s is none', (_, body) => {
    expect(read(body)).toBeNull();
  });

  test.each([
    ['transaction.paid', true, false],
    ['transaction.completed', true, false],
    ['transaction.payment_failed', true, false],
    ['transaction.canceled', true, false],
    ['transaction.created', false, false],
    ['transaction.ready', false, false],
    ['adjustment.created', true, true],
    ['adjustment.updated', true, true],
    ['customer.created', false, false],
    ['subscription.activated', false, false],
  ])('of type %s is passed on: %s, tells of a refund: %s', (type, concerns, tellsOfRefund) => {
    expect(paddleNotifications.concerns(type)).toBe(concerns);
    expect(paddleNotifications.tellsOfRefund(type)).toBe(tellsOfRefund);
  });
});

describe('the list of events of Paddle', async () => {
  const fake = await startPaddleFake();
  afterAll(() => fake.close());
  const events = paddleAdapter(fake.url).events!;

  test('has what no notification told since an instant, the types that matter alone, however many there are', async () => {
    const under = paddleUnderTest(fake);
    const { reference } = await opened(under);
    for (let n = 0; n < 210; n += 1) {
      payTransaction(under.books, reference.providerId, sandboxCardNumber('declines'));
    }
    captureBeside(under.books, reference.providerId);
    const secrets = { api_key: under.apiKey };
    const listed = await events(secrets, new Date(Date.now() - 60_000).toISOString());
    expect(listed).toHaveLength(212);
    expect(listed.slice(0, 2).map(({ eventType }) => eventType)).toEqual(['transaction.completed', 'transaction.paid']);
    const told = under.books.events.find(({ event_type }) => event_type === 'transaction.paid')!;
    expect(listed[1]).toMatchObject({
      eventId: told.event_id,
      at: told.occurred_at,
      objectIds: [transactionAttempt(told.data), reference.providerId],
      marker: { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1' },
    });
    expect(JSON.parse(Buffer.from(listed[1]!.body).toString())).toEqual(told);
    expect(await events(secrets, new Date(Date.now() + 60_000).toISOString())).toEqual([]);
  });

  test('without an answer says so', async () => {
    fake.failNext('events', '500');
    await expect(events({ api_key: 'pdl_sdbx_1' }, new Date().toISOString())).rejects.toBeInstanceOf(
      GatewayOutcomeUnknown,
    );
  });
});

function transactionAttempt(data: object): string {
  return (data as { payments: { payment_attempt_id: string }[] }).payments[0]!.payment_attempt_id;
}

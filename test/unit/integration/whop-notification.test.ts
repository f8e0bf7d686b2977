import { createHmac } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { signedNotification } from '../../../dev/provider-fakes/whop/notification.ts';
import { refundPayment } from '../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import { whopAdapter } from '../../../integrations/whop/adapter.ts';
import { whopNotifications } from '../../../integrations/whop/notification.ts';
import { opened } from '../../support/gateways/gateway-under-test.ts';
import { whopUnderTest } from '../../support/gateways/whop-under-test.ts';

const fake = await startWhopFake();
afterAll(() => fake.close());

const secret = 'ws_present';
const former = 'ws_former';
const now = Date.UTC(2026, 10, 27, 12);
const minuteMs = 60_000;
const payment = { id: 'pay_1', status: 'paid', checkout_configuration_id: 'ch_1', metadata: null };
const event = { id: 'msg_1', type: 'payment.succeeded', data: payment };
const { headers, body } = signedNotification(event, secret, now);
const right = headers['webhook-signature'];
const verify = (changes: Record<string, string | string[] | undefined> = {}, secrets = [secret], of = body) =>
  whopNotifications.verify({ headers: { ...headers, ...changes }, body: Buffer.from(of) }, secrets, now);
const signedAt = (atMs: number, by = secret) => signedNotification(event, by, atMs).headers;

describe('the signature of a notification of Whop', () => {
  test.each<[what: string, changes: Record<string, string | string[] | undefined>, verdict: string]>([
    ['is missing', { 'webhook-signature': undefined }, 'missing'],
    ['is empty', { 'webhook-signature': '' }, 'missing'],
    ['is right', {}, 'valid'],
    [
      'is the second of two, while the secret is exchanged',
      { 'webhook-signature': `v1,${'A'.repeat(43)}= ${right}` },
      'valid',
    ],
    ['is right beside one of another scheme', { 'webhook-signature': `v1a,AAAA ${right}` }, 'valid'],
    ['is of another scheme alone', { 'webhook-signature': right.replace('v1,', 'v2,') }, 'bad'],
    ['is by another secret', signedAt(now, 'ws_other'), 'bad'],
    ['is by the secret before, which is not valid any more', signedAt(now, former), 'bad'],
    ['is for another id', { 'webhook-id': 'msg_2' }, 'bad'],
    ['is for another time', { 'webhook-timestamp': String(now / 1000 + 1) }, 'bad'],
    ['has no id', { 'webhook-id': undefined }, 'bad'],
    ['has no time', { 'webhook-timestamp': undefined }, 'bad'],
    ['has a time that is no number', { 'webhook-timestamp': 'now' }, 'bad'],
    ['came as two headers', { 'webhook-signature': [right, right] }, 'bad'],
    ['is cut short', { 'webhook-signature': right.slice(0, -2) }, 'bad'],
    ['is nonsense', { 'webhook-signature': 'nonsense' }, 'bad'],
    ['is five minutes old', signedAt(now - 5 * minuteMs), 'valid'],
    ['is older than five minutes', signedAt(now - 5 * minuteMs - 1000), 'clock'],
    ['is of a clock ten minutes fast', signedAt(now + 10 * minuteMs), 'clock'],
    ['is old and by another secret', signedAt(now - 10 * minuteMs, 'ws_other'), 'bad'],
  ])('%s', (_, changes, verdict) => {
    expect(verify(changes)).toBe(verdict);
  });

  test('is taken by the secret before while that is valid too, and never without one', () => {
    expect(verify(signedAt(now, former), [secret, former])).toBe('valid');
    expect(verify({}, [])).toBe('bad');
    expect(verify(signedAt(now, ''), [''])).toBe('bad');
  });

  test('is made with the text of the secret, or with what is encoded in one of the standard', () => {
    const bytes = Buffer.alloc(24, 7);
    const encoded = `whsec_${bytes.toString('base64')}`;
    const signature = createHmac('sha256', bytes)
      .update(`msg_1.${now / 1000}.${body}`)
      .digest('base64');
    expect(verify({ 'webhook-signature': `v1,${signature}` }, [encoded])).toBe('valid');
    expect(verify(signedAt(now, encoded), [encoded])).toBe('valid');
  });

  test('is never right by a secret that encodes next to nothing', () => {
    const signature = createHmac('sha256', '')
      .update(`msg_1.${now / 1000}.${body}`)
      .digest('base64');
    for (const short of ['whsec_', 'whsec_A', 'whsec_===='])
      expect(verify({ 'webhook-signature': `v1,${signature}` }, [short])).toBe('bad');
  });

  test('covers every byte of the body', () => {
    for (let at = 0; at < body.length; at += 7) {
      const tampered = `${body.slice(0, at)}~${body.slice(at + 1)}`;
      expect(verify({}, [secret], tampered)).toBe('bad');
    }
  });
});

describe('a notification of Whop', () => {
  const read = (value: unknown, id: string | undefined = 'msg_1') =>
    whopNotifications.read({
      headers: { 'webhook-id': id },
      body: Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    });
  const marker = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1' };

  test('says which payment it is about and which page that is of, by the id that is signed', () => {
    expect(read(event, 'msg_signed')).toEqual({
      eventId: 'msg_signed',
      eventType: 'payment.succeeded',
      marker: null,
      objectIds: ['pay_1', 'ch_1'],
    });
    expect(read({ ...event, data: { ...payment, metadata: marker } })).toMatchObject({ marker });
    expect(read({ ...event, data: { ...payment, plan: { id: 'plan_1', metadata: marker } } })).toMatchObject({
      marker,
    });
  });

  test('of a refund names its payment, and none of ours but by that', () => {
    const data = { id: 'rfnd_1', payment: { id: 'pay_1', metadata: marker } };
    expect(read({ id: 'msg_1', type: 'refund.updated', data })).toMatchObject({
      marker: null,
      objectIds: ['rfnd_1', 'pay_1'],
    });
  });

  test('without an object, or with ids that are none, is about nothing', () => {
    for (const data of [undefined, null, [], { id: 7 }, { id: 'pay\0' }, { id: 'x'.repeat(256) }])
      expect(read({ ...event, data })).toMatchObject({ objectIds: [], marker: null });
  });

  test.each<[what: string, value: unknown]>([
    ['no JSON', '{"id":"msg_1"'],
    ['nothing', ''],
    ['a list', [1]],
    ['no UTF-8', Buffer.from([0x7b, 0xc3, 0x28])],
    ['without a type', { ...event, type: '' }],
    ['with a NUL', { ...event, type: 'payment\0' }],
  ])('that is %s is none', (_, value) => {
    expect(read(value)).toBeNull();
  });

  test.each([
    ['payment.succeeded', true, false],
    ['payment.failed', true, false],
    ['payment.pending', true, false],
    ['payment.created', false, false],
    ['refund.created', true, true],
    ['refund.updated', true, true],
    ['dispute.created', true, false],
    ['membership.activated', false, false],
    ['invoice.paid', false, false],
  ])('of type %s is passed on: %s; tells of a refund: %s', (type, concerns, tells) => {
    expect(whopNotifications.concerns(type)).toBe(concerns);
    expect(whopNotifications.tellsOfRefund(type)).toBe(tells);
  });
});

test('what no notification told of is read from the lists of payments and refunds', async () => {
  const under = whopUnderTest(fake);
  const { apiKey, books, companyId } = under;
  const secrets = { api_key: apiKey, company_id: companyId };
  const { events } = whopAdapter(fake.url);
  const { reference, request } = await opened(under);
  await under.pay(reference, 'declines');
  await under.pay(reference, 'succeeds');
  const [, captured] = books.paymentsOf(reference.providerId);
  const { id } = refundPayment(books, captured!, 5);
  const since = new Date(Date.now() - minuteMs).toISOString();
  const listed = await events!(secrets, since);
  const told = listed.map(({ eventType, objectIds, marker, isDerived }) => ({
    eventType,
    objectIds,
    marker,
    isDerived,
  }));
  const ofPayment = { marker: request.metadata, isDerived: true };
  expect(told).toHaveLength(3);
  expect(told).toEqual(
    expect.arrayContaining([
      { ...ofPayment, eventType: 'payment.failed', objectIds: [expect.any(String), reference.providerId] },
      { ...ofPayment, eventType: 'payment.succeeded', objectIds: [captured!.id, reference.providerId] },
      { eventType: 'refund.updated', objectIds: [id, captured!.id], marker: null, isDerived: true },
    ]),
  );
  expect(listed.map(({ body }) => whopNotifications.read({ headers: {}, body })?.eventId)).toEqual(
    listed.map(({ eventId }) => eventId),
  );
  expect(await events!(secrets, new Date(Date.now() + minuteMs).toISOString())).toMatchObject([
    { objectIds: [id, captured!.id] },
  ]);
  fake.failNext('list', '500');
  await expect(events!(secrets, since)).rejects.toThrow('whop answered 500');
});

test('a card that was saved is told with its page and our marks, also where no notification told it', async () => {
  const under = whopUnderTest(fake);
  const { request, reference } = await opened(under, { mode: 'setup', amount: '0', saveMethod: true });
  await under.pay(reference, 'declines');
  await under.pay(reference, 'succeeds');
  const [refused, saved] = [...under.books.setups.values()];
  const told = { marker: request.metadata, objectIds: [saved!.id, reference.providerId] };
  const sent = under.books.events.map((each) => {
    const { headers, body } = signedNotification(each, secret, now);
    return whopNotifications.read({ headers, body: Buffer.from(body) });
  });
  expect(sent).toMatchObject([
    { eventType: 'setup_intent.canceled', objectIds: [refused!.id, reference.providerId] },
    { eventType: 'setup_intent.succeeded', ...told },
  ]);
  expect(sent.every((each) => each !== null && whopNotifications.concerns(each.eventType))).toBe(true);
  const { events } = whopAdapter(fake.url);
  const secrets = { api_key: under.apiKey, company_id: under.companyId };
  const listed = await events!(secrets, new Date(Date.now() - minuteMs).toISOString());
  expect(listed).toMatchObject([{ eventType: 'setup_intent.succeeded', ...told, isDerived: true }]);
});

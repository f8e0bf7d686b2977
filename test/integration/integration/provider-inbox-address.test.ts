import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { signedNotification } from '../../../dev/provider-fakes/stripe/notification.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { connectStripe, inbox, inboxOf, notify, post, type StripeWorld } from './provider-inbox.fixture.ts';

const fake = await startStripeFake();
const base = await testDatabase({ fakes: { stripe: fake } });
const providers = providerAdapters({ stripe: fake.url });
const { app, api } = await testApp(base, undefined, { providers });
afterAll(() => fake.close());

const secretKey = 'sk_test_address';
const world: StripeWorld = { app, api, base, secretKey, books: fake.booksOf(secretKey) };
const minuteMs = 60_000;
let events = 0;
const event = (members: object = {}) => {
  events += 1;
  return { id: `evt_${events}`, type: 'payment_intent.succeeded', data: { object: { id: 'pi_unknown' } }, ...members };
};
const owner = async (text: string, values: unknown[] = []) => {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
};

describe('before a connection has a secret', () => {
  test('nothing is taken, whoever sends it', async () => {
    const unconnected = await notify(world, event());
    expect(unconnected.status).toBe(400);
    expect(unconnected.body).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('no connection to stripe'),
    });
    const connection = await connectStripe(world, null);
    for (const secret of ['whsec_1', '', 'undefined', 'null']) {
      const refused = await notify(world, event(), secret);
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({ message: expect.stringContaining('has no webhook_secret') });
    }
    expect(await inbox(world)).toEqual([]);
    const change = { encrypted_secret_data: { webhook_secret: 'whsec_1' } };
    expect((await api('PUT', `/connections/${connection.id}`, change)).status).toBe(200);
  });
});

describe('a notification', () => {
  test('is kept with its bytes and headers, and answered after that', async () => {
    const sent = event();
    const { status, body } = await notify(world, sent);
    expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'stored' } });
    const row = await inboxOf(world, sent.id);
    expect(row).toMatchObject({
      event_type: sent.type,
      provider: 'stripe',
      outcome: null,
      provider_ids: ['pi_unknown'],
    });
    expect(JSON.parse(String(row?.body))).toEqual(sent);
    expect(row?.headers).toMatchObject({ 'stripe-signature': expect.stringContaining('v1=') });
  });

  test('that comes ten times, also at once, is kept once', async () => {
    const sent = event();
    const answers = await Promise.all(Array.from({ length: 10 }, () => notify(world, sent)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await inbox(world)).filter(({ provider_event_id }) => provider_event_id === sent.id)).toHaveLength(1);
  });

  test('that comes in a crowd is kept like one alone, also beside one that cannot be', async () => {
    const sent = Array.from({ length: 70 }, () => event());
    const refused = sent[33]?.id;
    await owner(`alter table inbound_event add constraint crowd check (provider_event_id <> '${refused}')`);
    const answers = await Promise.all(sent.map((one) => notify(world, one)));
    await owner('alter table inbound_event drop constraint crowd');
    expect(answers.map(({ status }) => status)).toEqual(sent.map(({ id }) => (id === refused ? 503 : 200)));
    const kept = new Set((await inbox(world)).map(({ provider_event_id }) => provider_event_id));
    expect(sent.filter(({ id }) => !kept.has(id)).map(({ id }) => id)).toEqual([refused]);
  });

  test('of a type that is nothing to us is kept and passed on to nobody', async () => {
    const sent = event({ type: 'product.created' });
    expect((await notify(world, sent)).status).toBe(200);
    expect(await inboxOf(world, sent.id)).toMatchObject({ outcome: 'ignored', done_at: expect.anything() });
  });

  test.each([
    ['UTF-8', Buffer.concat([Buffer.from('{"id":"evt_'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['JSON', Buffer.from('{"id":')],
    ['text without NUL', Buffer.from('{"id":"evt_\\u0000","type":"x"}')],
  ])('that is signed and is no %s is kept once, and nobody asks for it again', async (_, body) => {
    const { headers } = signedNotification(body.toString('latin1'), 'whsec_1');
    const time = Math.floor(Date.now() / 1000);
    const { createHmac } = await import('node:crypto');
    const signature = createHmac('sha256', 'whsec_1').update(`${time}.`).update(body).digest('hex');
    const before = (await inbox(world)).length;
    for (let times = 0; times < 2; times += 1) {
      const answer = await post(world, {
        headers: { ...headers, 'stripe-signature': `t=${time},v1=${signature}` },
        body,
      });
      expect(answer.status).toBe(200);
    }
    const rows = (await inbox(world)).slice(before);
    expect(rows).toMatchObject([{ outcome: 'unreadable', event_type: '', done_at: expect.anything() }]);
  });

  test.each([
    ['without a type of its bytes', { 'content-type': '' }],
    ['as plain text', { 'content-type': 'text/plain' }],
    ['with a key that is none', { 'x-api-key': 'nobody' }],
  ])('%s is taken like any other', async (_, more) => {
    const { headers, body } = signedNotification(event(), 'whsec_1');
    const given = Object.fromEntries(Object.entries({ ...headers, ...more }).filter(([, value]) => value !== ''));
    expect((await post(world, { headers: given, body })).status).toBe(200);
  });

  test('of more than 1 MiB is refused before its signature is looked at; of 1 MiB it is taken', async () => {
    const whole = (bytes: number) => {
      const sent = event({ padding: '' });
      const text = JSON.stringify(sent);
      return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
    };
    const fits = whole(1024 * 1024);
    expect(fits.length).toBe(1024 * 1024);
    expect(
      (
        await post(world, {
          ...signedNotification(fits, 'whsec_1'),
          headers: { ...signedNotification(fits, 'whsec_1').headers },
        })
      ).status,
    ).toBe(200);
    const tooLarge = await post(world, { headers: {}, body: whole(1024 * 1024 + 1) });
    expect(tooLarge.status).toBe(400);
    expect(tooLarge.body).toMatchObject({ message: expect.stringContaining('1 MiB of a notification') });
  });

  test('that cannot be stored is 503, so that it is sent again', async () => {
    const sent = event();
    await owner('revoke insert on inbound_event from perennial_app');
    expect((await notify(world, sent)).status).toBe(503);
    await owner('grant insert on inbound_event to perennial_app');
    expect(await inboxOf(world, sent.id)).toBeUndefined();
    expect((await notify(world, sent)).status).toBe(200);
  });
});

describe('a notification is refused, and nothing is kept,', () => {
  const { headers, body } = signedNotification(event(), 'whsec_1');
  const header = headers['stripe-signature'];
  const old = signedNotification(event(), 'whsec_1', Date.now() - 10 * minuteMs);
  const early = signedNotification(event(), 'whsec_1', Date.now() + 10 * minuteMs);
  test.each([
    ['without a signature', {}, body, 'is not signed'],
    ['with one of another secret', { ...signedNotification(body, 'whsec_2').headers }, body, 'does not fit'],
    ['with changed bytes', { 'stripe-signature': header }, body.replace('pi_unknown', 'pi_another'), 'does not fit'],
    ['without a body', { 'stripe-signature': header }, '', 'does not fit'],
    ['when it is ten minutes old', { ...old.headers }, old.body, 'clock of this server'],
    ['when it is ten minutes early', { ...early.headers }, early.body, 'clock of this server'],
  ])('%s', async (_, sentHeaders, sentBody, message) => {
    const before = (await inbox(world)).length;
    const answer = await post(world, { headers: sentHeaders as Record<string, string>, body: sentBody });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_error', message: expect.stringContaining(message) });
    expect(await inbox(world)).toHaveLength(before);
  });
});

describe('the address of a notification', () => {
  test('is of an environment and its tenant, and 404 for any other pair', async () => {
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const { tenantId, environmentId } = base.scope;
    const addresses = [
      { tenantId, environmentId: other.environmentId },
      { tenantId: other.tenantId, environmentId },
      { tenantId, environmentId: 'env_unknown' },
      { tenantId: '*', environmentId: '*' },
    ];
    for (const address of addresses) {
      const { headers, body } = signedNotification(event(), 'whsec_1');
      const answer = await post(world, { headers: { ...headers }, body }, address);
      expect([address, answer.status]).toEqual([address, 404]);
    }
    const { headers, body } = signedNotification(event(), 'whsec_1');
    const theirs = await post(world, { headers: { ...headers }, body }, other);
    expect(theirs.status).toBe(400);
    expect(theirs.body).toMatchObject({ message: expect.stringContaining('no connection to stripe') });
  });

  test('finding A13: of an archived environment and of a suspended tenant still takes them, because money under way is finished', async () => {
    const { tenantId, environmentId } = base.scope;
    await owner(`update environment set status = 'archived' where id = $1`, [environmentId]);
    await owner(`update tenant set state = 'suspended' where id = $1`, [tenantId]);
    const answer = await notify(world, event());
    await owner(`update environment set status = 'published' where id = $1`, [environmentId]);
    await owner(`update tenant set state = 'active' where id = $1`, [tenantId]);
    expect(answer.status).toBe(200);
  });
});

describe('an exchanged secret', () => {
  test('finding A13: verifies from the next notification on, the one before for 72 hours more, and a removed one not at all', async () => {
    const [connection] = (await api<{ connections: { id: string }[] }>('GET', '/connections')).body.connections;
    const exchange = (webhook_secret: string | null) =>
      api('PUT', `/connections/${connection?.id}`, { encrypted_secret_data: { webhook_secret } });
    expect((await exchange('whsec_2')).status).toBe(200);
    expect((await notify(world, event(), 'whsec_2')).status).toBe(200);
    expect((await notify(world, event(), 'whsec_1')).status).toBe(200);
    expect((await exchange('whsec_3')).status).toBe(200);
    for (const secret of ['whsec_3', 'whsec_2', 'whsec_1'])
      expect((await notify(world, event(), secret)).status).toBe(200);
    expect((await exchange(null)).status).toBe(200);
    await expect.poll(async () => (await notify(world, event(), 'whsec_3')).status).toBe(400);
    expect((await notify(world, event(), 'whsec_2')).status).toBe(400);
    expect((await exchange('whsec_3')).status).toBe(200);
    expect((await notify(world, event(), 'whsec_3')).status).toBe(200);
  });
});

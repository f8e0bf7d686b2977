import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readProviderEvents } from '../../../activities/integration/provider-events.ts';
import { decide, refundInDashboard } from '../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import { connectStripe, inbox, inboxOf, payInvoice, type StripeWorld, stripePayer } from './provider-inbox.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices are written by hand, without their documents.
const base = await testDatabase({ breaks: ['I19'], fakes: { stripe: fake } });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
const owner = new pg.Client({ connectionString: base.ownerUrl });
beforeAll(() => owner.connect());
afterAll(async () => {
  await owner.end();
  await fake.close();
});

// biome-ignore lint/suspicious/noExplicitAny: free-form JSON of the API
type Wire = any;

const secretKey = 'sk_test_listed';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
// Nothing of it is ever told.
const connection = await connectStripe(world, null);

const connected = { adapters: providers, secretKeys: testSecretKeys.secretEncryptionKeys };
const look = () => readProviderEvents(base.database, temporal.client, connected);
/** Lets time pass since the list was last asked for. */
const pass = (minutes: number) =>
  owner.query(
    `update connection set events_asked_at = events_asked_at - make_interval(mins => $1),
       events_read_until = events_read_until - make_interval(mins => $1)`,
    [minutes],
  );
const asked = async () =>
  (await owner.query('select events_asked_at, events_read_until from connection where id = $1', [connection.id]))
    .rows[0];
const become = (path: string, expected: object) =>
  expect.poll(async () => (await api<Wire>('GET', path)).body, { timeout: 20_000 }).toMatchObject(expected);

/** A payment that Stripe has not decided, and that is asked about seldom. */
async function undecided() {
  const payment = await payInvoice(world, await stripePayer(world, 'never_answers'));
  await become(`/payments/${payment.id}`, { payment_status: 'PROCESSING' });
  return payment;
}

describe('events of a provider that sends no notifications', () => {
  test('are read once an hour, and what they tell is found', async () => {
    await look();
    const before = await asked();
    expect(before.events_read_until).not.toBeNull();
    const payment = await undecided();
    decide(books, payment.intentId, 'capture');
    const told = [...books.events.values()].findLast(({ type }) => type === 'payment_intent.succeeded')!;
    await pass(59);
    await look();
    expect(await inboxOf(world, told.id)).toBeUndefined();
    await pass(1);
    await look();
    await become(`/payments/${payment.id}`, { payment_status: 'SUCCEEDED' });
    await expect
      .poll(() => inboxOf(world, told.id), { timeout: 20_000 })
      .toMatchObject({ outcome: expect.stringMatching(/passed_on|settled/), object_id: payment.id });
  });

  test('refunds of the dashboard are found by them, and events that came before change nothing', async () => {
    const payment = await payInvoice(world, await stripePayer(world, 'succeeds'));
    await become(`/payments/${payment.id}`, { payment_status: 'SUCCEEDED' });
    refundInDashboard(books, payment.intentId, 500);
    await pass(60);
    await look();
    await become(`/payments/${payment.id}`, { payment_status: 'PARTIALLY_REFUNDED' });
    const rows = await inbox(world);
    await pass(60);
    await look();
    expect((await inbox(world)).length).toBe(rows.length);
  });

  test('are asked for again ten minutes after no answer, from where they were read', async () => {
    const payment = await undecided();
    await pass(60);
    fake.failNext('events', '500', 1);
    const before = await asked();
    await look();
    decide(books, payment.intentId, 'capture');
    expect((await asked()).events_read_until).toEqual(before.events_read_until);
    await pass(9);
    await look();
    expect((await asked()).events_read_until < (await asked()).events_asked_at).toBe(true);
    await pass(1);
    await look();
    await become(`/payments/${payment.id}`, { payment_status: 'SUCCEEDED' });
  });

  test('finding A13: a connection says that it is healthy, that its key is refused, and that its notifications do not come', async () => {
    const healthOf = async () => (await api<Wire>('GET', `/connections/${connection.id}`)).body.health;
    await pass(60);
    await look();
    expect(await healthOf()).toEqual({ status: 'healthy', checked_at: expect.any(String), problem: null });
    await pass(60);
    fake.failNext('events', '401', 1);
    await look();
    expect(await healthOf()).toMatchObject({
      status: 'unhealthy',
      problem: expect.stringContaining('refuses the key'),
    });

    const change = (webhook_secret: string) =>
      api<Wire>('PUT', `/connections/${connection.id}`, { encrypted_secret_data: { webhook_secret } });
    expect((await change('whsec_silent')).body.health).toEqual({ status: 'unknown', checked_at: null, problem: null });
    await undecided();
    for (const event of books.events.values()) event.created -= 301;
    books.tell('payment_intent.succeeded', { id: 'pi_silent', object: 'payment_intent', metadata: {} });
    const last = [...books.events.values()].at(-1)!;
    last.created -= 301;
    await look();
    expect(await healthOf()).toMatchObject({
      status: 'unhealthy',
      problem: expect.stringContaining('came by no notification'),
    });
    await pass(60);
    await look();
    expect(await healthOf()).toMatchObject({ status: 'healthy' });
  });
});

import { afterAll, describe, expect, test } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { eraseDeletedSecrets } from '../../../services/integration/connection-secret.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import { connectStripe, inboxOf, lastEvent, notify, type StripeWorld, stripePayer } from './provider-inbox.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices are written by hand, without their documents.
const base = await testDatabase({ breaks: ['I19'], fakes: { stripe: fake } });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

// biome-ignore lint/suspicious/noExplicitAny: free-form JSON of the API
type Wire = any;

const secretKey = 'sk_test_first';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
const dayMs = 86_400_000;

const statusOf = (path: string, member: string) =>
  expect.poll(async () => (await api<Wire>('GET', path)).body[member], { timeout: 20_000 });

async function hasSecrets(connectionId: string): Promise<boolean | undefined> {
  const [row] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ has: boolean }>('select secret_ciphertext is not null as has from connection where id = $1', [
      connectionId,
    ]),
  );
  return row?.has;
}

const erase = (now: number) =>
  inSqlTransaction(base.database, systemScope, (tx) => eraseDeletedSecrets(tx, new Date(now).toISOString()));

function charge({ customerId, methodId }: { customerId: string; methodId: string | null }, amount: string) {
  return api<Wire>('POST', '/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    payment_method_type: 'CARD',
    payment_method_id: methodId,
    amount,
    currency: 'usd',
  });
}

async function pay(payer: { customerId: string; methodId: string }, amount: string) {
  const { status, body } = await charge(payer, amount);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

describe('finding A1: a payment knows a gateway’s name, not the account it was sent to', () => {
  test('after its connection is deleted money goes back to the account it came from, and none is charged there', async () => {
    const connection = await connectStripe(world);
    const payer = await stripePayer(world, 'succeeds');
    const payment = await pay(payer, '12.5');
    await statusOf(`/payments/${payment.id}`, 'payment_status').toBe('SUCCEEDED');
    expect((await api('DELETE', `/connections/${connection.id}`)).status).toBe(204);
    const other = await connectStripe({ ...world, secretKey: 'sk_test_second' }, 'whsec_2');

    const refund = await created<Wire>(api, `/payments/${payment.id}/refund`, { amount: '5' });
    await statusOf(`/refunds/${refund.id}`, 'refund_status').toBe('SUCCEEDED');
    expect([...books.refunds.values()]).toMatchObject([{ amount: 500, metadata: { perennial_refund: refund.id } }]);
    expect(fake.booksOf('sk_test_second').refunds.size).toBe(0);

    // What is under way there is still told, by the secret of then.
    const event = lastEvent(books, 'refund.created');
    expect((await notify(world, event)).status).toBe(200);
    await expect
      .poll(() => inboxOf(world, event.id), { timeout: 20_000 })
      .toMatchObject({ object_type: 'refund', object_id: refund.id, connection_id: connection.id });

    const captures = books.captures().length;
    for (const methodId of [payer.methodId, null]) {
      const refused = await charge({ ...payer, methodId }, '13');
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({
        code: 'invalid_operation',
        message: expect.stringContaining('an account of stripe that is not connected any more'),
        details: { context: { payment_method_id: payer.methodId } },
      });
    }
    expect(books.captures()).toHaveLength(captures);
    expect(fake.booksOf('sk_test_second').captures()).toHaveLength(0);

    await erase(Date.now() + 179 * dayMs);
    expect(await hasSecrets(connection.id)).toBe(true);
    await erase(Date.now() + 181 * dayMs);
    expect(await hasSecrets(connection.id)).toBe(false);
    expect(await hasSecrets(other.id)).toBe(true);
    expect((await notify(world, { ...event, id: 'evt_later' }, 'whsec_2')).status).toBe(200);
    await expect.poll(async () => (await notify(world, { ...event, id: 'evt_too_late' })).status).toBe(400);

    // The same account once more: its cards are charged as before.
    expect((await api('DELETE', `/connections/${other.id}`)).status).toBe(204);
    await connectStripe(world);
    const paid = await pay(payer, '13');
    await statusOf(`/payments/${paid.id}`, 'payment_status').toBe('SUCCEEDED');
    expect(books.captures()).toHaveLength(captures + 1);
  });
});

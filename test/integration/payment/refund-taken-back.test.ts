import { afterAll, describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { returnRefund } from '../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import {
  connectStripe,
  inboxOf,
  lastEvent,
  notify,
  type StripeWorld,
  stripePayer,
} from '../integration/provider-inbox.fixture.ts';

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

const secretKey = 'sk_test_returned';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
await connectStripe(world);

const refundOf = async (id: string) => (await api<Wire>('GET', `/refunds/${id}`)).body;
const paymentOf = async (id: string) => (await api<Wire>('GET', `/payments/${id}`)).body;
const become = (id: string, status: string) =>
  expect.poll(() => refundOf(id), { timeout: 20_000 }).toMatchObject({ refund_status: status });
const retry = (id: string, refund_target: string) => api<Wire>('POST', `/refunds/${id}/retry`, { refund_target });

/** A payment of 12.5 usd by a customer, of which parts were given back through Stripe. */
async function givenBack(...amounts: string[]) {
  const { customerId, methodId } = await stripePayer(world, 'succeeds');
  const payment = await created<Wire>(api, '/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    payment_method_type: 'CARD',
    payment_method_id: methodId,
    amount: '12.5',
    currency: 'usd',
  });
  await expect.poll(() => paymentOf(payment.id), { timeout: 20_000 }).toMatchObject({ payment_status: 'SUCCEEDED' });
  const refunds: Wire[] = [];
  for (const amount of amounts) {
    const { id } = await created<Wire>(api, `/payments/${payment.id}/refund`, { amount });
    await become(id, 'SUCCEEDED');
    refunds.push(await refundOf(id));
  }
  return { customerId, paymentId: payment.id as string, refunds };
}

/** The bank sends a refund back, and Stripe tells. */
async function sendBack(refund: Wire) {
  returnRefund(books, refund.gateway_refund_id);
  const event = lastEvent(books, 'refund.failed');
  expect((await notify(world, event)).status).toBe(200);
  return event;
}

async function parked(refundId: string): Promise<{ step: string; reason: string } | undefined> {
  const [row] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ step: string; reason: string }>('select step, reason from parked_object where object_id = $1', [
      refundId,
    ]),
  );
  return row;
}

const toSource = (paymentId: string) =>
  [...books.refunds.values()].filter(
    ({ payment_intent, status }) =>
      status === 'succeeded' && books.intents.get(payment_intent)?.metadata.payment_id === paymentId,
  );

describe('finding A11: refunds are not final, and disputes pay twice', () => {
  test('a refund that the bank sends back fails, its payment follows, and a person is told', async () => {
    const { paymentId, refunds } = await givenBack('12.5');
    const [refund] = refunds;
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'REFUNDED' });
    const event = await sendBack(refund);
    await become(refund.id, 'FAILED');
    expect(await refundOf(refund.id)).toMatchObject({
      failure_reason: 'lost_or_stolen_card',
      settled_amount: null,
      attempt: 1,
    });
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'SUCCEEDED', refunded_at: null });
    expect(await parked(refund.id)).toMatchObject({ step: 'retryRefund', reason: expect.stringContaining('returned') });
    await expect
      .poll(() => inboxOf(world, event.id), { timeout: 20_000 })
      .toMatchObject({ outcome: 'passed_on', object_type: 'refund', object_id: refund.id });

    // Told again, as providers do, it is what it was.
    const again = { ...event, id: 'evt_again' };
    expect((await notify(world, again)).status).toBe(200);
    await expect.poll(() => inboxOf(world, 'evt_again'), { timeout: 20_000 }).toMatchObject({ outcome: 'settled' });
    expect(await refundOf(refund.id)).toMatchObject({ refund_status: 'FAILED', attempt: 1 });

    expect((await retry(refund.id, 'BACK_TO_SOURCE')).status).toBe(200);
    await become(refund.id, 'SUCCEEDED');
    expect(await parked(refund.id)).toBeUndefined();
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'REFUNDED' });
    expect(toSource(paymentId)).toMatchObject([{ amount: 1250 }]);
  });

  test('of two refunds the other stays, and the wallet may take the money instead, once', async () => {
    const { customerId, paymentId, refunds } = await givenBack('5', '7.5');
    await sendBack(refunds[1]);
    await become(refunds[1].id, 'FAILED');
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'PARTIALLY_REFUNDED' });
    expect(await refundOf(refunds[0].id)).toMatchObject({ refund_status: 'SUCCEEDED' });
    const answers = await Promise.all([retry(refunds[1].id, 'PREPAID_WALLET'), retry(refunds[1].id, 'PREPAID_WALLET')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(await refundOf(refunds[1].id)).toMatchObject({ refund_status: 'SUCCEEDED', refund_destination: 'WALLET' });
    expect(await parked(refunds[1].id)).toBeUndefined();
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'REFUNDED' });
    const { body: wallets } = await api<Wire>('GET', `/customers/${customerId}/wallets`);
    expect(wallets).toMatchObject([{ balance: '7.5' }]);
    expect(toSource(paymentId)).toMatchObject([{ amount: 500 }]);
  });

  test('a notification that says so although the refund stands changes nothing', async () => {
    const { paymentId, refunds } = await givenBack('5');
    const object = books.refunds.get(refunds[0].gateway_refund_id);
    const event = { id: 'evt_wrong', type: 'refund.failed', data: { object: { ...object, status: 'failed' } } };
    expect((await notify(world, event)).status).toBe(200);
    await expect.poll(() => inboxOf(world, 'evt_wrong'), { timeout: 20_000 }).toMatchObject({ outcome: 'passed_on' });
    const { client } = temporal;
    await client.workflow.getHandle(`refund/${refunds[0].id}`).result();
    expect(await refundOf(refunds[0].id)).toMatchObject({ refund_status: 'SUCCEEDED', attempt: 0 });
    expect(await paymentOf(paymentId)).toMatchObject({ payment_status: 'PARTIALLY_REFUNDED' });
  });

  test('a provider that gives no answer is asked until it does', async () => {
    const { refunds } = await givenBack('5');
    fake.failNext('read', '500', 2);
    await sendBack(refunds[0]);
    await become(refunds[0].id, 'FAILED');
    expect(await parked(refunds[0].id)).toBeDefined();
  });
});

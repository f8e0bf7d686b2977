import { afterAll, expect, test } from 'vitest';
import { refundInDashboard } from '../../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkProviderBooks } from '../../../support/gateways/provider-books.ts';
import { violationsOf } from '../../../support/invariants.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import {
  connectStripe,
  lastEvent,
  notify,
  payInvoice,
  type StripeWorld,
  stripePayer,
} from '../provider-inbox.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices are written by hand, without their documents. The books of the fake are falsified, so that the file does not check them itself.
const base = await testDatabase({ breaks: ['I19'] });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

// biome-ignore lint/suspicious/noExplicitAny: free-form JSON of the API
type Wire = any;

const secretKey = 'sk_test_books';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
await connectStripe(world);

/** Disagreements with the books of Stripe. */
const reported = async () =>
  violationsOf(await checkProviderBooks(base.database, { stripe: fake })).map(({ text }) => text);

/** A payment of 12.5 usd of which 5 were given back, both known to both sides. */
async function paidAndRefunded() {
  const { id, intentId } = await payInvoice(world, await stripePayer(world, 'succeeds'));
  await expect
    .poll(async () => (await api<Wire>('GET', `/payments/${id}`)).body, { timeout: 20_000 })
    .toMatchObject({ payment_status: 'SUCCEEDED' });
  const gatewayRefundId = refundInDashboard(books, intentId, 500);
  expect((await notify(world, lastEvent(books, 'refund.created'))).status).toBe(200);
  const refunds = async () => (await api<Wire>('GET', `/refunds?payment_id=${id}`)).body.items;
  await expect.poll(refunds, { timeout: 20_000 }).toMatchObject([{ refund_status: 'SUCCEEDED', amount: '5' }]);
  const [refund] = await refunds();
  return {
    ...{ id, intentId, refundId: refund.id as string, gatewayRefundId },
    intent: books.intents.get(intentId)!,
    refund: books.refunds.get(gatewayRefundId)!,
  };
}

test('books and records that agree are not reported', async () => {
  await paidAndRefunded();
  expect(await reported()).toEqual([]);
});

test('money at a provider of which nobody knows is reported, taken or given back', async () => {
  const known = await paidAndRefunded();
  books.intents.set('pi_stray', { ...known.intent, id: 'pi_stray', metadata: {} });
  books.refunds.set('re_stray', { ...known.refund, id: 're_stray' });
  expect(await reported()).toEqual([
    'I9 pi_stray: 12.5 usd taken, of which no payment knows',
    `I9 re_stray: 5 usd given back of ${known.intentId}, of which no refund knows`,
  ]);
  books.intents.delete('pi_stray');
  books.refunds.delete('re_stray');
});

test('a payment and a refund that succeeded without money are reported', async () => {
  const known = await paidAndRefunded();
  books.intents.delete(known.intentId);
  books.refunds.delete(known.gatewayRefundId);
  expect(await reported()).toEqual([
    `I9 ${known.id}: 12.5 usd paid, which was never taken`,
    `I9 ${known.refundId}: 5 usd refunded, which was never given back`,
  ]);
  books.intents.set(known.intentId, known.intent);
  books.refunds.set(known.gatewayRefundId, known.refund);
});

test('another amount or currency than is recorded is reported', async () => {
  const known = await paidAndRefunded();
  books.intents.set(known.intentId, { ...known.intent, amount_received: 1251 });
  books.refunds.set(known.gatewayRefundId, { ...known.refund, currency: 'eur' });
  expect(await reported()).toEqual([
    `I9 ${known.id}: 12.51 usd taken, recorded 12.5 usd`,
    `I9 ${known.refundId}: 5 eur given back of ${known.intentId}, recorded 5 usd of ${known.intentId}`,
  ]);
  books.intents.set(known.intentId, known.intent);
  books.refunds.set(known.gatewayRefundId, known.refund);
});

import { afterAll, describe, expect, test } from 'vitest';
import { capture, refundInDashboard, returnRefund, settleRefund } from '../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import {
  connectStripe,
  inboxOf,
  lastEvent,
  notify,
  payInvoice,
  type StripeWorld,
  stripePayer,
} from '../integration/provider-inbox.fixture.ts';
import { fillingWallets } from '../wallet/auto-top-up.fixture.ts';

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

const secretKey = 'sk_test_elsewhere';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
await connectStripe(world);

const filling = fillingWallets({ api });
const read = async (path: string) => (await api<Wire>('GET', path)).body;
const refundsOf = async (paymentId: string) => (await read(`/refunds?payment_id=${paymentId}`)).items as Wire[];
const become = (path: string, expected: object) =>
  expect.poll(() => read(path), { timeout: 20_000 }).toMatchObject(expected);
const haveRefunds = (paymentId: string, expected: object[]) =>
  expect.poll(() => refundsOf(paymentId), { timeout: 20_000 }).toMatchObject(expected);

/** An invoice of 12.5 usd that a card paid at Stripe. */
async function paidInvoice() {
  const payer = await stripePayer(world, 'succeeds');
  const { id: paymentId, intentId } = await payInvoice(world, payer);
  await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED' });
  return { ...payer, paymentId, intentId };
}

/** Credits that a customer bought for 12.5 usd by invoice, paid by card at Stripe. */
async function boughtCredits() {
  const { customerId } = await stripePayer(world, 'succeeds');
  const wallet = await created<Wire>(api, '/wallets', { customer_id: customerId, currency: 'usd' });
  const { invoice_id: invoiceId } = await created<Wire>(api, `/wallets/${wallet.id}/top-up`, {
    credits_to_add: '12.5',
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    idempotency_key: `bought-${wallet.id}`,
  });
  await become(`/wallets/${wallet.id}`, { balance: '12.5' });
  const [payment] = (await read(`/payments?destination_id=${invoiceId}`)).items;
  return { walletId: wallet.id, invoiceId, paymentId: payment.id, intentId: payment.gateway_payment_id };
}

/** Gives money back in Stripe's dashboard, in cents, and has Stripe tell of it. */
async function inDashboard(intentId: string, amount: number, status: 'succeeded' | 'pending' = 'succeeded') {
  const refundId = refundInDashboard(books, intentId, amount, status);
  const event = lastEvent(books, 'refund.created');
  expect((await notify(world, event)).status).toBe(200);
  return { refundId, event };
}

const settled = (eventId: string) =>
  expect.poll(async () => (await inboxOf(world, eventId))?.outcome, { timeout: 20_000 }).not.toBeNull();

async function debitsOf(walletId: string) {
  const { items } = await read(`/wallets/${walletId}/transactions?type=debit`);
  return items.map(({ credit_amount, reference_id }: Wire) => ({ credit_amount, reference_id }));
}

describe('refunds made in the provider’s dashboard', () => {
  test('one becomes a row, its payment and invoice follow, and told twice it is one', async () => {
    const { paymentId, invoiceId, intentId } = await paidInvoice();
    const { refundId, event } = await inDashboard(intentId, 500);
    await haveRefunds(paymentId, [
      {
        gateway_refund_id: refundId,
        invoice_id: invoiceId,
        amount: '5',
        refund_status: 'SUCCEEDED',
        refund_reason: 'OTHER',
        refund_destination: 'GATEWAY',
        metadata: { made_at: 'stripe', counted_amount: '5' },
      },
    ]);
    await become(`/payments/${paymentId}`, { payment_status: 'PARTIALLY_REFUNDED' });
    await become(`/invoices/${invoiceId}`, { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '5' });
    for (const again of [{ ...event, id: 'evt_twice' }, lastEvent(books, 'charge.refunded')]) {
      expect((await notify(world, again)).status).toBe(200);
      await settled(again.id);
    }
    await temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
    expect(await refundsOf(paymentId)).toHaveLength(1);
    const rest = await inDashboard(intentId, 750);
    await become(`/invoices/${invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '12.5' });
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
    expect((await refundsOf(paymentId)).map(({ gateway_refund_id }) => gateway_refund_id).toSorted()).toEqual(
      [refundId, rest.refundId].toSorted(),
    );
  });

  test('one that the bank has not decided counts when it is paid out', async () => {
    const { paymentId, intentId } = await paidInvoice();
    const { refundId, event } = await inDashboard(intentId, 500, 'pending');
    await settled(event.id);
    await temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
    expect(await refundsOf(paymentId)).toEqual([]);
    settleRefund(books, refundId);
    expect((await notify(world, lastEvent(books, 'refund.updated'))).status).toBe(200);
    await haveRefunds(paymentId, [{ gateway_refund_id: refundId, refund_status: 'SUCCEEDED' }]);
  });

  test('a notification that comes while the provider gives no answer is not lost', async () => {
    const { paymentId, intentId } = await paidInvoice();
    fake.failNext('read', '500', 2);
    const { refundId } = await inDashboard(intentId, 500);
    await haveRefunds(paymentId, [{ gateway_refund_id: refundId, refund_status: 'SUCCEEDED' }]);
  });

  test('findings 5c, 20: one of bought credits takes them back, below zero where they are spent', async () => {
    const { walletId, invoiceId, paymentId, intentId } = await boughtCredits();
    await filling.debit(walletId, '10');
    const { refundId } = await inDashboard(intentId, 500);
    await haveRefunds(paymentId, [{ gateway_refund_id: refundId }]);
    const [refund] = await refundsOf(paymentId);
    await become(`/wallets/${walletId}`, { credit_balance: '-2.5' });
    await become(`/invoices/${invoiceId}`, { payment_status: 'PARTIALLY_REFUNDED' });
    expect(await debitsOf(walletId)).toContainEqual({ credit_amount: '5', reference_id: refund.id });
  });

  test('finding 5c: one of a payment without an invoice takes the credits of its purchase', async () => {
    const { customerId } = await stripePayer(world, 'succeeds');
    const walletId = await filling.walletOf(customerId, { invoicing: false });
    await filling.debit(walletId, '85');
    await filling.becomes(walletId, { state: 'cooling' });
    await become(`/wallets/${walletId}`, { credit_balance: '65' });
    expect((await filling.put(walletId, { auto_topup: { enabled: false } })).status).toBe(200);
    const [attempt] = await filling.attemptsOf(walletId);
    const payment = await read(`/payments/${attempt.payment_id}`);
    await inDashboard(payment.gateway_payment_id, 2000);
    await become(`/wallets/${walletId}`, { credit_balance: '45' });
    await become(`/payments/${payment.id}`, { payment_status: 'PARTIALLY_REFUNDED' });
    const [refund] = await refundsOf(payment.id);
    expect(refund).toMatchObject({ invoice_id: null, amount: '20' });
    expect(await debitsOf(walletId)).toContainEqual({ credit_amount: '20', reference_id: refund.id });
  });

  test('money of an automatic top-up that went back is not taken again by itself: the wallet pauses until a person resumes it', async () => {
    const { id: clockId } = await created<Wire>(api, '/test-clocks', { frozen_time: '2026-01-15T00:00:00Z' });
    const { customerId } = await stripePayer(world, 'succeeds', { testClockId: clockId });
    const walletId = await filling.walletOf(customerId, { invoicing: false });
    await filling.debit(walletId, '90');
    await filling.becomes(walletId, { state: 'cooling', attempts_24h: 1 });
    await advanceClock(api, clockId, '2026-01-15T02:00:00Z');
    await filling.becomes(walletId, { state: 'armed' });
    const [attempt] = await filling.attemptsOf(walletId);
    await inDashboard((await read(`/payments/${attempt.payment_id}`)).gateway_payment_id, 4500);
    await filling.becomes(walletId, { state: 'paused', reason: 'refund', until: null });
    await become(`/wallets/${walletId}`, { credit_balance: '15' });

    await filling.addCard(customerId, 'succeeds');
    await advanceClock(api, clockId, '2026-02-01T00:00:00Z');
    expect(await filling.standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'refund' });
    expect(await filling.attemptsOf(walletId)).toHaveLength(1);
    expect((await api('POST', `/wallets/${walletId}/auto-topup/resume`)).status).toBe(200);
    await expect.poll(() => filling.attemptsOf(walletId), { timeout: 20_000 }).toHaveLength(2);
  });

  test('a refund of ours whose money is gone waits for a person, whom the gateway is refused', async () => {
    const { id: clockId } = await created<Wire>(api, '/test-clocks', { frozen_time: '2026-01-15T00:00:00Z' });
    const { methodId, customerId } = await stripePayer(world, 'refund_fails_times', { testClockId: clockId, times: 1 });
    const payment = await created<Wire>(api, '/payments', {
      destination_type: 'CUSTOMER',
      destination_id: customerId,
      payment_method_type: 'CARD',
      payment_method_id: methodId,
      amount: '12.5',
      currency: 'usd',
    });
    await become(`/payments/${payment.id}`, { payment_status: 'SUCCEEDED' });
    const { id } = await created<Wire>(api, `/payments/${payment.id}/refund`, { amount: '10' });
    await become(`/refunds/${id}`, { refund_status: 'FAILED', attempt: 1 });
    await inDashboard((await read(`/payments/${payment.id}`)).gateway_payment_id, 500);
    await become(`/payments/${payment.id}`, { payment_status: 'PARTIALLY_REFUNDED' });

    const retry = (refund_target: string) => api<Wire>('POST', `/refunds/${id}/retry`, { refund_target });
    const isGone = expect.stringContaining('it was given back at the gateway itself');
    expect(await retry('BACK_TO_SOURCE')).toMatchObject({ status: 400, body: { message: isGone } });
    await advanceClock(api, clockId, '2026-01-15T00:20:00Z');
    await become(`/refunds/${id}`, { refund_status: 'FAILED', attempt: 2, failure_reason: isGone });
    expect((await retry('PREPAID_WALLET')).status).toBe(200);
    await become(`/refunds/${id}`, { refund_status: 'SUCCEEDED', refund_destination: 'WALLET' });
  });

  test('one that the bank sends back fails, and its payment holds the money again', async () => {
    const { paymentId, intentId } = await paidInvoice();
    const { refundId } = await inDashboard(intentId, 1250);
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
    returnRefund(books, refundId);
    expect((await notify(world, lastEvent(books, 'refund.failed'))).status).toBe(200);
    await haveRefunds(paymentId, [{ gateway_refund_id: refundId, refund_status: 'FAILED' }]);
    await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED' });
    const [refund] = await refundsOf(paymentId);
    expect((await api<Wire>('POST', `/refunds/${refund.id}/retry`, { refund_target: 'BACK_TO_SOURCE' })).status).toBe(
      200,
    );
    await become(`/refunds/${refund.id}`, { refund_status: 'SUCCEEDED' });
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
  });

  test('the refund of a payment whose capture is not known here yet waits for it', async () => {
    const payer = await stripePayer(world, 'never_answers');
    const { id: paymentId, intentId } = await payInvoice(world, payer);
    await become(`/payments/${paymentId}`, { payment_status: 'PROCESSING' });
    capture(books, books.intents.get(intentId)!);
    const { refundId } = await inDashboard(intentId, 500);
    await haveRefunds(paymentId, [{ gateway_refund_id: refundId }]);
    await become(`/payments/${paymentId}`, { payment_status: 'PARTIALLY_REFUNDED' });
  });
});

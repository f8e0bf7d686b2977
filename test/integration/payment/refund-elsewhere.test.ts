import { afterAll, describe, expect, test } from 'vitest';
import { decideDispute, openDispute } from '../../../dev/provider-fakes/stripe/dispute.ts';
import { capture, returnRefund, settleRefund } from '../../../dev/provider-fakes/stripe/payment.ts';
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
  lastEvent,
  notify,
  payInvoice,
  type StripeWorld,
  stripePayer,
} from '../integration/provider-inbox.fixture.ts';
import { fillingWallets } from '../wallet/auto-top-up.fixture.ts';
import { moneyAtStripe } from './stripe-money.fixture.ts';

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
const { read, refundsOf, become, haveRefunds, paidInvoice, boughtCredits, inDashboard, settled, debitsOf, tellOf } =
  moneyAtStripe(world);

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

test('a refund notification that comes before the API’s answer: it is one refund, ours, and the money goes back once', async () => {
  const { customerId, methodId } = await stripePayer(world, 'succeeds');
  const { id: paymentId } = await created<Wire>(api, '/payments', {
    ...{ destination_type: 'CUSTOMER', destination_id: customerId, payment_method_id: methodId },
    ...{ payment_method_type: 'CARD', amount: '12.5', currency: 'usd' },
  });
  await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED' });
  const { gateway_payment_id: intentId } = await read(`/payments/${paymentId}`);
  const told: ReturnType<typeof notify>[] = [];
  fake.onEvent((_, event) => {
    if (event.data.object.payment_intent === intentId) told.push(notify(world, event));
  });
  fake.failNext('refund', 'loses_answer');
  const { id } = await created<Wire>(api, `/payments/${paymentId}/refund`, { amount: '5' });
  await haveRefunds(paymentId, [{ id, refund_status: 'SUCCEEDED', amount: '5' }]);
  expect((await Promise.all(told)).map(({ status }) => status)).toContain(200);
  await settled(lastEvent(books, 'refund.created').id);
  await haveRefunds(paymentId, [{ id, refund_status: 'SUCCEEDED', amount: '5' }]);
  expect([...books.refunds.values()].filter(({ payment_intent }) => payment_intent === intentId)).toHaveLength(1);
});

describe('payments that the bank of their payer takes back', () => {
  test('a top-up charged back with its credits still spendable: the wallet stops at once, and the credits leave with the money', async () => {
    const { customerId } = await stripePayer(world, 'succeeds');
    const walletId = await filling.walletOf(customerId, { invoicing: false });
    await filling.debit(walletId, '85');
    await filling.becomes(walletId, { state: 'cooling' });
    const [{ payment_id: paymentId }] = await filling.attemptsOf(walletId);
    const disputeId = openDispute(books, (await read(`/payments/${paymentId}`)).gateway_payment_id);
    await tellOf('charge.dispute.created');
    await filling.becomes(walletId, { state: 'paused', reason: 'dispute', until: null });
    const open = { gateway_dispute_id: disputeId, dispute_status: 'open', amount: '50', reason: 'fraudulent' };
    await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED', disputes: [{ ...open, refund_id: null }] });
    expect(await filling.balanceOf(walletId)).toBe('65');
    await filling.debit(walletId, '60');

    decideDispute(books, disputeId, 'lost');
    await tellOf('charge.dispute.closed');
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED', disputes: [{ dispute_status: 'lost' }] });
    const [refund] = await refundsOf(paymentId);
    const { disputes } = await read(`/payments/${paymentId}`);
    expect(refund).toMatchObject({ id: disputes[0].refund_id, amount: '50', gateway_refund_id: disputeId });
    expect(await debitsOf(walletId)).toContainEqual({ credit_amount: '50', reference_id: refund.id });
    expect(await filling.balanceOf(walletId)).toBe('-45');
    expect(await filling.attemptsOf(walletId)).toHaveLength(1);
    expect(await filling.standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'dispute' });
  });

  test('finding A11: a refund beside a chargeback: it is refused while the bank decides, and after the bank took the money', async () => {
    const { walletId, invoiceId, paymentId, intentId } = await boughtCredits();
    const [line] = (await read(`/invoices/${invoiceId}`)).line_items;
    const line_items = [{ invoice_line_item_id: line.id, amount: '2.5' }];
    const note = (refund_target: string) =>
      api<Wire>('POST', '/creditnotes', { invoice_id: invoiceId, reason: 'UNSATISFACTORY', line_items, refund_target });
    const refused = { status: 400, body: { code: 'invalid_operation' } };
    const disputeId = openDispute(books, intentId);
    await tellOf('charge.dispute.created');
    await become(`/payments/${paymentId}`, { disputes: [{ dispute_status: 'open' }] });
    const answers = [await note('BACK_TO_SOURCE'), await note('PREPAID_WALLET')];
    for (const answer of [...answers, await api<Wire>('POST', `/invoices/${invoiceId}/void`)]) {
      expect(answer).toMatchObject(refused);
      expect(answer.body.message).toContain('is disputed');
    }
    decideDispute(books, disputeId, 'lost');
    await tellOf('charge.dispute.closed');
    await become(`/invoices/${invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '12.5' });
    for (const answer of [await note('BACK_TO_SOURCE'), await note('PREPAID_WALLET')]) expect(answer.status).toBe(400);
    await tellOf('charge.dispute.created');
    await temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
    expect(await refundsOf(paymentId)).toHaveLength(1);
    expect(await filling.balanceOf(walletId)).toBe('0');
  });

  test('a dispute that is won leaves the money, which can be given back again, and an inquiry is none', async () => {
    const { id: clockId } = await created<Wire>(api, '/test-clocks', { frozen_time: '2026-01-15T00:00:00Z' });
    const { methodId, customerId } = await stripePayer(world, 'refund_fails_times', { testClockId: clockId, times: 1 });
    const { id: paymentId } = await created<Wire>(api, '/payments', {
      ...{ destination_type: 'CUSTOMER', destination_id: customerId, payment_method_type: 'CARD' },
      ...{ payment_method_id: methodId, amount: '12.5', currency: 'usd' },
    });
    await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED' });
    const { gateway_payment_id: intentId } = await read(`/payments/${paymentId}`);
    openDispute(books, intentId, { status: 'warning_needs_response' });
    await settled((await tellOf('charge.dispute.created')).id);
    const { id } = await created<Wire>(api, `/payments/${paymentId}/refund`, { amount: '10' });
    await become(`/refunds/${id}`, { refund_status: 'FAILED', attempt: 1 });
    const disputeId = openDispute(books, intentId);
    await tellOf('charge.dispute.created');
    await become(`/payments/${paymentId}`, { disputes: [{ gateway_dispute_id: disputeId, dispute_status: 'open' }] });
    const retry = (refund_target: string) => api<Wire>('POST', `/refunds/${id}/retry`, { refund_target });
    for (const target of ['BACK_TO_SOURCE', 'PREPAID_WALLET']) {
      expect(await retry(target)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
    await advanceClock(api, clockId, '2026-01-15T01:00:00Z');
    await become(`/refunds/${id}`, { refund_status: 'FAILED', failure_reason: expect.stringContaining('is disputed') });
    decideDispute(books, disputeId, 'won');
    await tellOf('charge.dispute.closed');
    await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED', disputes: [{ dispute_status: 'won' }] });
    expect((await retry('BACK_TO_SOURCE')).status).toBe(200);
    await become(`/refunds/${id}`, { refund_status: 'SUCCEEDED' });
  });
});

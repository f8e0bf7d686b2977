import { describe, expect, test } from 'vitest';
import { removeMethod, saveOnPage } from '../../../../dev/provider-fakes/whop/charge.ts';
import { decidePayment } from '../../../../dev/provider-fakes/whop/payment.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { monthlyPlan } from '../../../support/billing.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { savedCardsAt } from './saved-card.fixture.ts';
import { whopWorld } from './whop.fixture.ts';

const world = await whopWorld('cards');
const { api, becomes, books, fake, idOf, lastEvent, notify, pay, read } = world;
await world.connect();
const { planId } = await monthlyPlan(api);
const cards = savedCardsAt({ api, provider: 'whop' });
const { askedPaymentBecomes, automatic, collected, invoiceBecomes, methodsOf, paymentBecomes, paymentsOf } = cards;

/** A customer whose card Whop keeps, saved on its page. */
async function cardholder(card: SandboxBehaviour = 'succeeds', count = 0): Promise<{ id: string; methodId: string }> {
  const { id, session } = await cards.setUp();
  saveOnPage(books, idOf(session), sandboxCardNumber('succeeds'));
  const { payment_method, id: eventId } = lastEvent('setup_intent.succeeded').data as {
    payment_method: Body;
    id: string;
  };
  Object.assign(books.held.get(payment_method.id)!.card, { behaviour: card, count });
  expect(eventId).toMatch(/^sint_/);
  await becomes(session, 'completed');
  const [method] = await methodsOf(id);
  return { id, methodId: method.id };
}

/** Payments at Whop of one of ours. */
const chargesOf = ({ id }: Body) => [...books.payments.values()].filter(({ metadata }) => metadata.payment_id === id);

describe('a card', () => {
  test('is saved on the page of Whop, nothing is taken, and an invoice is charged to it', async () => {
    const before = books.captures().length;
    const { id, methodId } = await cardholder();
    expect(books.captures()).toHaveLength(before);
    expect(await methodsOf(id)).toMatchObject([{ id: methodId, gateway: 'whop', is_default: true, brand: 'visa' }]);
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_method_id: methodId, amount: '25' });
    expect(chargesOf(payment)).toMatchObject([
      { id: payment.gateway_payment_id, settlement_amount: 25, status: 'paid' },
    ]);
  });

  test('that Whop tells of completes its session without anybody asking', async () => {
    const { session } = await cards.setUp();
    saveOnPage(books, idOf(session), sandboxCardNumber('succeeds'));
    const event = lastEvent('setup_intent.succeeded');
    expect((await notify(event)).status).toBe(200);
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
    await becomes(session, 'completed');
  });

  test('that was paid with is kept by an order that is charged again, and the subscription names it', async () => {
    const customer = await customerOf(api);
    const { status, body } = await api<Body>('POST', '/subscriptions', {
      ...{ customer_id: customer.id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' },
      collection_method: 'charge_automatically',
      checkout: automatic,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    pay(body.checkout_session);
    await becomes(body.checkout_session, 'completed');
    const [method] = await methodsOf(customer.id);
    expect(method).toMatchObject({ gateway: 'whop', is_default: true });
    expect(await read(`/subscriptions/${body.id}`)).toMatchObject({
      subscription_status: 'active',
      gateway_payment_method_id: method.id,
    });
    await invoiceBecomes(await collected(customer.id), 'SUCCEEDED');
  });

  test('that was taken away at Whop is declined for good', async () => {
    const { id } = await cardholder();
    const { payment_method } = lastEvent('setup_intent.succeeded').data as { payment_method: Body };
    removeMethod(books, payment_method.id);
    await paymentBecomes(await collected(id), { payment_status: 'FAILED', error_message: 'not_found' });
  });
});

describe('a charge', () => {
  test('that is declined is told with its code, and nothing is taken', async () => {
    const { id } = await cardholder('declines_for_good');
    const invoiceId = await collected(id);
    await askedPaymentBecomes(invoiceId, { payment_status: 'FAILED', error_message: 'stolen_card' });
    expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ amount_paid: '0' });
  });

  test('that is decided later is processing until Whop tells', async () => {
    const { id } = await cardholder('never_answers');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(invoiceId);
    const [charge] = chargesOf(payment);
    expect(decidePayment(books, charge!, 'capture')).toBe(true);
    const event = lastEvent('payment.succeeded');
    expect((await notify(event)).status).toBe(200);
    await paymentBecomes(invoiceId, { payment_status: 'SUCCEEDED' });
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ object_type: 'payment', object_id: payment.id });
  });

  test('whose answer is lost, or is broken, is found and taken once', async () => {
    for (const how of ['loses_answer', 'half', 'html'] as const) {
      const { id } = await cardholder();
      fake.failNext('charge', how);
      const invoiceId = await collected(id);
      await invoiceBecomes(invoiceId, 'SUCCEEDED');
      const [payment] = await paymentsOf(invoiceId);
      expect(chargesOf(payment), how).toHaveLength(1);
    }
  });

  test('whose request is lost is never sent again, and shows that it is not known', async () => {
    const { id } = await cardholder();
    fake.failNext('charge', 'unreachable');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(invoiceId);
    expect((await api('POST', `/payments/${payment.id}/process`)).status).toBe(400);
    expect(chargesOf(payment)).toEqual([]);
  });

  test('goes back to its card', async () => {
    const { id } = await cardholder();
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    await world.credit(invoiceId, '10');
    await world.refundsBecome(payment.id, [
      { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' },
    ]);
    expect(world.returnedOf(chargesOf(payment)[0]!)).toEqual(['10 usd']);
  });
});

describe('finding B9: an order', () => {
  const orderBy = async (card: SandboxBehaviour) => cards.orderBy((await cardholder(card)).id);

  test('is charged to the kept card, without a page, once', async () => {
    const session = await orderBy('succeeds');
    await becomes(session, 'completed');
    expect(await readSession(api, session.id)).toMatchObject({ payment_action: null });
    expect(chargesOf({ id: session.checkout_payment_id })).toMatchObject([{ status: 'paid', settlement_amount: 25 }]);
  });

  test('opens its page when the card is declined', async () => {
    const session = await orderBy('declines');
    await expect
      .poll(() => readSession(api, session.id), { timeout: 20_000 })
      .toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
    const open = await readSession(api, session.id);
    pay(open);
    await becomes(open, 'completed');
  });
});

describe('finding B11: a subscription that must be paid at once', () => {
  const terms = async (card: SandboxBehaviour = 'succeeds') => {
    const { id } = await cardholder(card);
    return { customer_id: id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
  };

  test('is refused by name where the provider of its card decides later, and leaves nothing', async () => {
    const asked = await terms();
    const before = books.payments.size;
    const refused = await api<Body>('POST', '/subscriptions', { ...asked, payment_behavior: 'error_if_incomplete' });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('whop decides later') },
    });
    expect((await read(`/subscriptions?customer_id=${asked.customer_id}`)).items).toEqual([]);
    expect((await read(`/invoices?customer_id=${asked.customer_id}`)).items).toEqual([]);
    expect(books.payments.size).toBe(before);
  });

  test('is refused when a draft of it is activated, which stays a draft', async () => {
    const asked = await terms();
    const { body: draft } = await api<Body>('POST', '/subscriptions', {
      ...{ ...asked, subscription_status: 'draft', payment_behavior: 'error_if_incomplete' },
    });
    expect((await api<Body>('POST', `/subscriptions/${draft.id}/activate`, {})).status).toBe(400);
    expect(await read(`/subscriptions/${draft.id}`)).toMatchObject({ subscription_status: 'DRAFT' });
  });

  test('may wait for the charge instead, and is active once it is decided', async () => {
    const asked = { ...(await terms()), payment_behavior: 'allow_incomplete' };
    const { status, body } = await api<Body>('POST', '/subscriptions', asked);
    expect(status, JSON.stringify(body)).toBe(201);
    await expect
      .poll(() => read(`/subscriptions/${body.id}`), { timeout: 20_000 })
      .toMatchObject({ subscription_status: 'active' });
  });
});

import { describe, expect, test } from 'vitest';
import type { FakeTransaction } from '../../../../dev/provider-fakes/chargebee/books.ts';
import { decideCharge } from '../../../../dev/provider-fakes/chargebee/charge.ts';
import type { SandboxBehaviour } from '../../../../integrations/sandbox-gateway/card.ts';
import { monthlyPlan } from '../../../support/billing.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { chargebeeWorld } from './chargebee.fixture.ts';
import { savedCardsAt } from './saved-card.fixture.ts';

const world = await chargebeeWorld();
const { api, becomes, books, fake, lastEvent, notify, pay, read, refundsBecome } = world;
await world.connect();
const { planId } = await monthlyPlan(api);
const cards = savedCardsAt({ api, provider: 'chargebee' });
const { automatic, collected, invoiceBecomes, methodsOf, paymentBecomes, paymentsOf, setUp } = cards;

/** A payer whose card behaves so when it is charged. */
async function cardholder(behaviour: SandboxBehaviour = 'succeeds', count = 0) {
  const { id, session } = await setUp();
  expect(pay(session)).toBe('saved');
  const source = [...books.sources.values()].at(-1)!;
  Object.assign(books.held.get(source.id)!, { behaviour, count });
  await becomes(session, 'completed');
  const [method] = await methodsOf(id);
  return { id, methodId: method.id as string, source };
}

/** The invoice at Chargebee of a payment of ours, and what it was paid by. */
const chargeOf = ({ id }: Body) => {
  const invoice = [...books.invoices.values()].find(({ notes }) => notes?.[0]?.note.includes(id))!;
  const payments = invoice.linked_payments.map(({ txn_id }) => books.transactions.get(txn_id)) as FakeTransaction[];
  return { invoice, payments };
};

describe('a card', () => {
  test('is saved on the page of Chargebee, nothing is taken, and an invoice is charged to it', async () => {
    const before = books.captures().length;
    const { id, methodId } = await cardholder();
    expect(books.captures()).toHaveLength(before);
    expect(await methodsOf(id)).toMatchObject([
      { id: methodId, gateway: 'chargebee', is_default: true, brand: 'visa' },
    ]);
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_method_id: methodId, amount: '25' });
    expect(chargeOf(payment)).toMatchObject({
      invoice: { status: 'paid', total: 2500 },
      payments: [{ id: payment.gateway_payment_id, amount: 2500 }],
    });
    expect(books.mailed).toEqual([]);
  });

  test('that Chargebee tells of completes its session without anybody asking', async () => {
    const { session } = await setUp();
    pay(session);
    const event = lastEvent('payment_source_added');
    expect((await notify(event)).status).toBe(200);
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
    await becomes(session, 'completed');
  });

  test('that was paid with is kept by an order that is charged again, and a later charge is no second payment of its page', async () => {
    const customer = await customerOf(api);
    const { status, body } = await api<Body>('POST', '/subscriptions', {
      ...{ customer_id: customer.id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' },
      collection_method: 'charge_automatically',
      checkout: automatic,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const { checkout_session: session } = body;
    pay(session);
    await becomes(session, 'completed');
    const [method] = await methodsOf(customer.id);
    expect(await read(`/subscriptions/${body.id}`)).toMatchObject({
      subscription_status: 'active',
      gateway_payment_method_id: method.id,
    });
    const invoiceId = await collected(customer.id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    expect((await notify(lastEvent('payment_succeeded'))).status).toBe(200);
    await readSession(api, session.id);
    for (const id of [session.checkout_payment_id, (await paymentsOf(invoiceId))[0]!.id]) {
      expect((await read(`/refunds?payment_ids=${id}`)).items).toEqual([]);
    }
  });

  test('that is gone at Chargebee is declined for good', async () => {
    const { id, source } = await cardholder();
    source.deleted = true;
    await paymentBecomes(await collected(id), { payment_status: 'FAILED', error_message: 'resource_not_found' });
  });
});

describe('a charge', () => {
  test('that is declined is told with its code, and nobody collects it at Chargebee', async () => {
    const { id } = await cardholder('declines_for_good');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'FAILED', error_message: 'stolen_card' });
    expect(chargeOf((await paymentsOf(invoiceId))[0]!)).toMatchObject({ invoice: { status: 'voided' } });
  });

  test('that its bank decides later is processing until Chargebee tells', async () => {
    const { id } = await cardholder('never_answers');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(invoiceId);
    expect(decideCharge(books, chargeOf(payment).invoice.id)).toBe(true);
    const event = lastEvent('payment_succeeded');
    expect((await notify(event)).status).toBe(200);
    await paymentBecomes(invoiceId, { payment_status: 'SUCCEEDED' });
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ object_type: 'payment', object_id: payment.id });
  });

  test.each(['loses_answer', 'unreachable', 'half'] as const)(
    'whose answer is lost (%s) is taken once',
    async (how) => {
      const { id } = await cardholder();
      fake.failNext('charge', how);
      const invoiceId = await collected(id);
      await invoiceBecomes(invoiceId, 'SUCCEEDED');
      expect(chargeOf((await paymentsOf(invoiceId))[0]!).payments).toHaveLength(1);
    },
  );

  test('goes back to its card', async () => {
    const { id } = await cardholder();
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    await world.credit(invoiceId, '10');
    const [payment] = await paymentsOf(invoiceId);
    const back = { refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' };
    await refundsBecome(payment.id, [back]);
  });

  test('decides whether a subscription that must be paid at once is made', async () => {
    const terms = async (card: SandboxBehaviour) => ({
      ...{ customer_id: (await cardholder(card)).id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' },
      payment_behavior: 'error_if_incomplete',
    });
    const paid = await api<Body>('POST', '/subscriptions', await terms('succeeds'));
    expect(paid, JSON.stringify(paid.body)).toMatchObject({ status: 201, body: { subscription_status: 'active' } });
    const declined = await terms('declines');
    expect((await api<Body>('POST', '/subscriptions', declined)).status).toBe(400);
    expect((await read(`/subscriptions?customer_id=${declined.customer_id}`)).items).toEqual([]);
  });
});

test('what was taken for a subscription that could not be made after all goes back to its card', async () => {
  const create = (customer_id: string) =>
    api<Body>('POST', '/subscriptions', {
      ...{ customer_id, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY', lookup_key: 'taken-meanwhile' },
      payment_behavior: 'error_if_incomplete',
    });
  const [slow, quick] = [await cardholder('answers_late', 2), await cardholder()];
  const before = books.invoices.size;
  const slowly = create(slow.id);
  await expect.poll(() => books.invoices.size, { timeout: 20_000 }).toBe(before + 1);
  const [invoice] = [...books.invoices.values()].slice(-1);
  await expect.poll(() => invoice!.linked_payments.length, { timeout: 20_000 }).toBe(1);
  expect((await create(quick.id)).status).toBe(201);
  expect(await slowly).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  const payment = books.transactions.get(invoice!.linked_payments[0]!.txn_id)!;
  expect(payment.linked_refunds).toMatchObject([{ txn_status: 'success', txn_amount: payment.amount }]);
});

test('finding B9: an order is charged to the kept card without a page, and a declined one opens it', async () => {
  const orderBy = async (card: SandboxBehaviour) => cards.orderBy((await cardholder(card)).id);
  expect(await orderBy('succeeds')).toMatchObject({ checkout_status: 'completed', payment_action: null });
  const declined = await orderBy('declines');
  expect(declined).toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  pay(declined);
  await becomes(declined, 'completed');
});

import { describe, expect, test } from 'vitest';
import { decideToken, payRegistration } from '../../../../dev/provider-fakes/razorpay/mandate.ts';
import { capture } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { created } from '../../../support/billing.ts';
import { type Body, customerOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { razorpayWorld } from './razorpay.fixture.ts';
import { savedCardsAt } from './saved-card.fixture.ts';

const world = await razorpayWorld('mandates');
const { api, becomes, books, checkout, fake, lastEvent, notify, read } = world;
await world.connect();
const reachable = { email: 'payer@example.com', contact: '+919876543210' };
const cards = savedCardsAt({ api, provider: 'razorpay' }, { currency: 'inr', payer: reachable });
const { automatic, collected, invoiceBecomes, methodsOf, paymentBecomes, paymentsOf, setUp, setupOf } = cards;
const idOf = (session: Body): string => session.provider_result.provider_session_id;

const save = (session: Body, card: SandboxBehaviour = 'succeeds') =>
  payRegistration(books, idOf(session), sandboxCardNumber(card));

/** A payer whose mandate behaves so when it is charged. */
async function cardholder(behaviour: SandboxBehaviour = 'succeeds', remaining = 0) {
  const { id, session } = await setUp();
  save(session);
  const token = [...books.tokens.values()].at(-1)!;
  await becomes(session, 'completed');
  Object.assign(token, { behaviour, remaining });
  const [method] = await methodsOf(id);
  return { id, methodId: method.id as string, token };
}

/** Payments at Razorpay of one of ours. */
const chargesOf = ({ id }: Body) =>
  [...books.payments.values()].filter(({ notes }) => !Array.isArray(notes) && notes.payment_id === id);

describe('a card', () => {
  test('is saved for a rupee that goes back, and an invoice is charged to it', async () => {
    const { id, methodId, token } = await cardholder();
    const rupee = [...books.payments.values()].find(({ token_id }) => token_id === token.id);
    expect(rupee).toMatchObject({ amount: 100, status: 'refunded' });
    expect(await methodsOf(id)).toMatchObject([{ gateway: 'razorpay', brand: 'Visa', max_amount: '15000' }]);
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_method_id: methodId, amount: '25' });
    expect(chargesOf(payment)).toMatchObject([{ id: payment.gateway_payment_id, amount: 2500, status: 'captured' }]);
  });

  test('that Razorpay tells of completes its session without anybody asking', async () => {
    const { session } = await setUp();
    save(session);
    const event = lastEvent('invoice.paid');
    expect((await notify(event)).status).toBe(200);
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
    await becomes(session, 'completed');
  });

  test('is saved once its bank confirms the mandate', async () => {
    const { id, session } = await setUp();
    save(session, 'answers_late');
    expect((await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`)).status).toBe(400);
    decideToken(books, [...books.tokens.values()].at(-1)!.id, 'confirmed');
    await becomes(session, 'completed');
    expect(await methodsOf(id)).toHaveLength(1);
  });

  test('of a payer without an address or telephone is refused, naming what is missing', async () => {
    for (const [member, terms] of [
      ['email', { contact: reachable.contact, email: null }],
      ['contact', { email: reachable.email, contact: null }],
    ] as const) {
      const { id } = await customerOf(api, terms);
      const { status, body } = await setupOf(id);
      expect(status).toBe(400);
      expect(body.details.fields).toHaveProperty(member);
    }
  });
});

describe('a charge of a mandate', () => {
  test('that waits for its bank is processing until Razorpay tells', async () => {
    const { id } = await cardholder('never_answers');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(invoiceId);
    capture(books, chargesOf(payment)[0]!);
    expect((await notify(lastEvent('payment.captured'))).status).toBe(200);
    await paymentBecomes(invoiceId, { payment_status: 'SUCCEEDED' });
  });

  test('that is declined is told with its reason', async () => {
    const { id } = await cardholder('declines_for_good');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'FAILED', error_message: 'debit_instrument_blocked' });
    expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ amount_paid: '0' });
  });

  test('that was taken back is declined for good', async () => {
    const { id, token } = await cardholder();
    decideToken(books, token.id, 'cancelled');
    await paymentBecomes(await collected(id), { payment_status: 'FAILED', error_message: 'not_there' });
  });

  test('whose answer is lost is found and taken once; whose request is lost is never sent again', async () => {
    const lost = await cardholder();
    fake.failNext('charge', 'loses_answer');
    const found = await collected(lost.id);
    await invoiceBecomes(found, 'SUCCEEDED');
    expect(chargesOf((await paymentsOf(found))[0]!)).toHaveLength(1);
    fake.failNext('charge', 'unreachable');
    const unknown = await collected((await cardholder()).id);
    await paymentBecomes(unknown, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(unknown);
    expect((await api('POST', `/payments/${payment.id}/process`)).status).toBe(400);
    expect(chargesOf(payment)).toEqual([]);
  });

  test('finding B10: more than the bank allows is asked of its payer, by one link', async () => {
    const { id } = await cardholder();
    await paymentBecomes(await collected(id, '15001'), {
      ...{ payment_status: 'PENDING', payment_method_type: 'PAYMENT_LINK', payment_method_id: null },
    });
  });

  test('finding B9: pays an order without a page, and a refused one opens the page', async () => {
    const orderOf = async (behaviour: SandboxBehaviour) => cards.orderBy((await cardholder(behaviour)).id);
    await becomes(await orderOf('succeeds'), 'completed');
    const declined = await orderOf('declines');
    await expect
      .poll(() => readSession(api, declined.id), { timeout: 20_000 })
      .toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
  });
});

describe('a subscription in rupees', () => {
  async function rupees() {
    const { id } = await created<Body>(api, '/plans', { name: 'Rupees' });
    await created(api, '/prices', {
      ...{ entity_type: 'PLAN', entity_id: id, type: 'FIXED', amount: '30', currency: 'inr' },
      ...{ billing_period: 'MONTHLY', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' },
      start_date: '2025-01-01T00:00:00Z',
    });
    return { plan_id: id, currency: 'inr', billing_period: 'MONTHLY' };
  }

  test('that is paid by UPI keeps its mandate for the renewals', async () => {
    const customer = await customerOf(api, reachable);
    const config = { collection_method: 'charge_automatically', payment_method: 'UPI', max_mandate_limit: '500' };
    const { status, body } = await api<Body>('POST', '/subscriptions', {
      ...{ customer_id: customer.id, collection_method: 'charge_automatically', ...(await rupees()) },
      checkout: { ...checkout, payment_provider_config: config },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    save(body.checkout_session);
    await becomes(body.checkout_session, 'completed');
    const [method] = await methodsOf(customer.id);
    expect(method).toMatchObject({ gateway: 'razorpay', brand: 'UPI', max_amount: '500' });
    expect(await read(`/subscriptions/${body.id}`)).toMatchObject({
      subscription_status: 'active',
      gateway_payment_method_id: method.id,
    });
    await invoiceBecomes(await collected(customer.id), 'SUCCEEDED');
  });

  test('that is charged to a card begins with a saved one, and is refused without', async () => {
    const terms = { collection_method: 'charge_automatically', checkout: automatic, ...(await rupees()) };
    const { id } = await customerOf(api, reachable);
    expect(await api<Body>('POST', '/subscriptions', { customer_id: id, ...terms })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('save one first, by a setup intent') },
    });
    const { id: customer_id, methodId } = await cardholder();
    const { status, body } = await api<Body>('POST', '/subscriptions', { customer_id, ...terms });
    expect(status, JSON.stringify(body)).toBe(201);
    await becomes(body.checkout_session, 'completed');
    expect(await read(`/subscriptions/${body.id}`)).toMatchObject({ gateway_payment_method_id: methodId });
  });

  test('finding B11: that must be paid at once is refused by name', async () => {
    const { id } = await cardholder();
    const terms = { customer_id: id, payment_behavior: 'error_if_incomplete', ...(await rupees()) };
    expect(await api<Body>('POST', '/subscriptions', terms)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('razorpay decides later') },
    });
  });
});

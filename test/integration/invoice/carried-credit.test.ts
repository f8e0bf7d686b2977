import { afterEach, describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { type Body, checkout, readSession } from '../payment/checkout/checkout.fixture.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');

interface Changed {
  changed_resources: { invoices: { action: string; invoice: { total: string } | null }[]; next_invoice_credit: string };
  message: string;
}

/** A plan of nothing but seats, 30 a month each, in advance. */
async function seatsPlan(): Promise<string> {
  const { id } = await created(api, '/plans', { name: `Seats ${Math.random().toString(36).slice(2)}` });
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: id,
    type: 'FIXED',
    amount: '30',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    currency: 'usd',
    invoice_cadence: 'ADVANCE',
    display_name: 'Base',
    min_quantity: '4',
    start_date: '2020-01-01T00:00:00Z',
  });
  return id;
}
const seats = await seatsPlan();

/** Four seats since 1 April 2026, paid; the customer's present is 16 April. */
async function subscribed(planId = seats) {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id, line_items } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
  return { id, clockId, customerId, seat: line_items.find((item) => item.display_name === 'Base')!.id };
}

const reduce = (id: string, seat: string, quantity: string, kind = 'execute') =>
  api<Changed>('POST', `/subscriptions/${id}/modify/${kind}`, {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: seat, quantity }] },
  });
const bills = async (id: string) =>
  (await invoicesOf(api, id)).map(({ total, line_items }) => [total, ...line_items.map(({ amount }) => amount)]);
async function walletOf(customerId: string): Promise<string[]> {
  const { body } = await api<{ balance: string }[]>('GET', `/customers/${customerId}/wallets`);
  return body.map(({ balance }) => balance);
}
const send = (destination: string) =>
  api<{ message: string }>('PUT', '/settings/proration_credit_destination', { value: { destination } });

afterEach(async () => {
  await api('DELETE', '/settings/proration_credit_destination');
});

describe("a seat's credit that no wallet could use (decision 50)", () => {
  it('is a line of the next invoices until it is used up, and the wallet stays as it is', async () => {
    const { id, clockId, customerId, seat } = await subscribed();
    const seen = await reduce(id, seat, '1', 'preview');
    expect(seen.body.changed_resources.next_invoice_credit).toBe('45');
    const { status, body } = await reduce(id, seat, '1');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.changed_resources).toMatchObject({ invoices: [], next_invoice_credit: '45' });
    const preview = await api<{ total: string; line_items: { amount: string }[] }>('POST', '/invoices/preview', {
      subscription_id: id,
    });
    expect(preview.body.line_items.map(({ amount }) => Number(amount))).toEqual([30, -30]);
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect(await bills(id)).toEqual([
      ['120', '120'],
      ['0', '30', '-30'],
      ['15', '30', '-15'],
    ]);
    expect(await walletOf(customerId)).toEqual([]);
    const [, used] = await invoicesOf(api, id);
    expect(used).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'SUCCEEDED' });
    expect(used?.line_items[1]?.display_name).toBe('Credit for unused time');
    const { body: explained } = await api<object>('GET', `/invoices/${used?.id}/explain`);
    expect(JSON.stringify(explained)).toContain('Earlier changes of the subscription left credit');
  });

  it('lowers the invoice of a larger quantity that comes first', async () => {
    const { id, seat } = await subscribed();
    await reduce(id, seat, '1');
    const { body } = await api<{ line_items: { id: string; end_date: string | null }[] }>(
      'GET',
      `/subscriptions/${id}`,
    );
    const now = body.line_items.find(({ end_date }) => end_date === null)!;
    const { body: raised } = await reduce(id, now.id, '3');
    expect(raised.changed_resources.invoices).toMatchObject([{ invoice: { total: '0' } }]);
    expect(await bills(id)).toEqual([
      ['120', '120'],
      ['0', '45', '-15', '-30'],
    ]);
  });

  it('comes back from a voided invoice, and its rest goes to the wallet when the subscription ends', async () => {
    const { id, clockId, customerId, seat } = await subscribed();
    await reduce(id, seat, '1');
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    const [, may] = await invoicesOf(api, id);
    expect((await api('POST', `/invoices/${may?.id}/void`, {})).status).toBe(200);
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect((await bills(id)).at(-1)).toEqual(['0', '30', '-30']);
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate', proration_behavior: 'none' });
    expect(await walletOf(customerId)).toEqual(['15']);
    const [, , june] = await invoicesOf(api, id);
    await api('POST', `/invoices/${june?.id}/void`, {});
    expect(await walletOf(customerId)).toEqual(['45']);
  });

  it('goes to the wallet at the end of a subscription whose last invoice did not need it', async () => {
    const { id, clockId, customerId, seat } = await subscribed();
    await reduce(id, seat, '1');
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
    expect(await walletOf(customerId)).toEqual(['45']);
  });

  it('is not discounted, lowers the tax, and its line can be taken off a draft but not rewritten', async () => {
    const { id, clockId, customerId, seat } = await subscribed();
    await reduce(id, seat, '3');
    await advanceTo(api, clockId, '2026-05-01T00:30:00Z');
    const [, may] = await invoicesOf(api, id);
    const draft = (await api<{ line_items: { id: string; amount: string }[] }>('GET', `/invoices/${may?.id}`)).body;
    const credit = draft.line_items.find(({ amount }) => amount === '-15')!;
    const edit = (params: object) =>
      api<{ message: string }>('POST', `/invoices/${may?.id}/modify/execute`, {
        type: 'line_item',
        line_item_params: params,
      });
    const rewritten = await edit({ action: 'update', items: [{ line_item_id: credit.id, amount: '-90' }] });
    expect([rewritten.status, rewritten.body.message]).toEqual([
      400,
      expect.stringContaining('follows from the other lines'),
    ]);
    const removed = await edit({ action: 'remove', line_item_ids: [credit.id] });
    expect(removed.status, JSON.stringify(removed.body)).toBe(200);
    expect((await bills(id))[1]).toEqual(['90', '90']);
    await api('POST', `/invoices/${may?.id}/finalize`, {});
    await advanceTo(api, clockId, '2026-06-01T03:00:00Z');
    expect((await bills(id))[2]).toEqual(['75', '90', '-15']);
    expect(await walletOf(customerId)).toEqual([]);
  });
});

describe('an order that its payment page pays', () => {
  const order = (id: string, seat: string, quantity: string) =>
    api<Body>('POST', `/subscriptions/${id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: seat, quantity }] },
      checkout,
    });

  it('uses the credit, which is free again when the page ends unpaid', async () => {
    const { id, clockId, seat } = await subscribed();
    await reduce(id, seat, '3');
    const [smaller] = (await subscriptionOf(api, id)).line_items.filter((item) => item.end_date === null);
    const { status, body } = await order(id, smaller!.id, '5');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.checkout_session).toMatchObject({ checkout_status: 'pending', amount: '15' });
    await api('POST', `/checkout/sessions/${body.checkout_session.id}/cancel`);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await bills(id))[1]).toEqual(['75', '90', '-15']);
  });

  it('leaves the credit to the wallet when the subscription ends before it is paid', async () => {
    const { id, customerId, seat } = await subscribed();
    await reduce(id, seat, '3');
    const [smaller] = (await subscriptionOf(api, id)).line_items.filter((item) => item.end_date === null);
    const { body } = await order(id, smaller!.id, '5');
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    await expect
      .poll(async () => (await readSession(api, body.checkout_session.id)).failure_reason, { timeout: 20_000 })
      .toBe('superseded');
    expect(await walletOf(customerId)).toEqual(['15']);
  });
});

describe('the setting proration_credit_destination', () => {
  it('has a wallet for seats, and the next invoice for a plan with usage', async () => {
    await send('wallet');
    const first = await subscribed();
    expect((await reduce(first.id, first.seat, '1')).body.changed_resources).toMatchObject({
      invoices: [{ action: 'wallet_credit' }],
      next_invoice_credit: '0',
    });
    expect(await walletOf(first.customerId)).toEqual(['45']);
    await send('next_invoice');
    const { planId } = await monthlyPlan(api);
    const second = await subscribed(planId);
    expect((await reduce(second.id, second.seat, '0')).body.changed_resources.next_invoice_credit).toBe('15');
    await advanceTo(api, second.clockId, '2026-05-01T03:00:00Z');
    expect(await walletOf(second.customerId)).toEqual([]);
  });

  it('of a plan with usage is the wallet by default, and a pause credits the wallet in any case', async () => {
    const { planId } = await monthlyPlan(api);
    const used = await subscribed(planId);
    expect((await reduce(used.id, used.seat, '0')).body.changed_resources.next_invoice_credit).toBe('0');
    expect(await walletOf(used.customerId)).toEqual(['15']);
    const paused = await subscribed();
    await api('POST', `/subscriptions/${paused.id}/pause`, { proration_behavior: 'create_prorations' });
    expect(await walletOf(paused.customerId)).toEqual(['60']);
  });

  it('refuses what it does not know', async () => {
    const { status, body } = await send('bank');
    expect([status, body.message]).toEqual([400, expect.stringContaining('auto, wallet, next_invoice')]);
  });
});

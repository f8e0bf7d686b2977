import { describe, expect, it, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

/** A subscription that began on 1 April 2026 and whose customer's present is 16 April. */
async function subscribed(fields: object = {}, now = '2026-04-16T00:00:00Z') {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  if (now > '2026-04-01T00:00:00Z') await advanceTo(api, clockId, now);
  return { id, clockId, customerId, externalId };
}

const support = {
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '20',
  display_name: 'Support',
};
const usage = { ...support, type: 'USAGE', invoice_cadence: 'ARREAR' };
interface Item {
  id: string;
  price_id: string;
  quantity: string;
  start_date: string;
  end_date: string | null;
  metadata: Record<string, string>;
  price: { amount: string; parent_price_id: string | null; entity_type: string };
}
const add = (id: string, body: object) => api<Item>('POST', `/subscriptions/${id}/lineitems`, body);
const change = (id: string, body: object) => api<Item>('PUT', `/subscriptions/lineitems/${id}`, body);
const end = (id: string, body?: object) => api<Item>('DELETE', `/subscriptions/lineitems/${id}`, body);
const totals = async (id: string) =>
  (await invoicesOf(api, id)).map(({ billing_reason, total }) => [billing_reason, total]);
const feeOf = async (id: string) =>
  (await subscriptionOf(api, id)).line_items.find((item) => item.display_name === 'Base')!.id;

describe('adding a line item', () => {
  it('bills the rest of the period at once and whole periods from the next boundary on', async () => {
    const { id, clockId } = await subscribed();
    const { status, body } = await add(id, { price: support, quantity: 3, metadata: { team: 'a' } });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        subscription_id: id,
        entity_type: 'subscription',
        entity_id: id,
        quantity: '3',
        display_name: 'Support',
        start_date: '2026-04-16T00:00:00.000Z',
        end_date: null,
        metadata: { team: 'a' },
        price: { amount: '20', entity_type: 'SUBSCRIPTION', entity_id: id },
      },
    });
    expect((await subscriptionOf(api, id)).version).toBe(2);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '30'],
      ['SUBSCRIPTION_CYCLE', '90'],
    ]);
    expect(await eventsOf(api, id)).toContain('subscription.updated');
  });

  it('with none is first charged at the next boundary; arrears and usage never at once', async () => {
    const { id, clockId } = await subscribed();
    await add(id, { price: support, proration_behavior: 'none' });
    await add(id, { price: { ...support, invoice_cadence: 'ARREAR', amount: '10' } });
    expect(await totals(id)).toEqual([['SUBSCRIPTION_CREATE', '30']]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '55']);
  });

  it('prices a new price in the currency of the subscription where none is sent', async () => {
    const { id } = await subscribed();
    const { currency, ...price } = support;
    expect((await add(id, { price })).body).toMatchObject({ price: { amount: '20', currency } });
  });

  it('takes a price of its plan, until an end, and charges nothing during a trial', async () => {
    const { id } = await subscribed({ trial_period_days: 30 });
    const { price_id } = (await subscriptionOf(api, id)).line_items.find(
      (item) => item.display_name === 'Base',
    ) as unknown as Item;
    const { body } = await add(id, { price_id, quantity: '2', end_date: '2026-06-01T00:00:00Z' });
    expect(body).toMatchObject({ entity_type: 'plan', price_id, end_date: '2026-06-01T00:00:00.000Z' });
    expect(await totals(id)).toEqual([['SUBSCRIPTION_TRIAL_START', '0']]);
  });

  it('refuses what does not fit', async () => {
    const { id } = await subscribed({ end_date: '2026-12-01T00:00:00Z' });
    const cases: [object, number, string][] = [
      [{}, 400, 'price_id'],
      [{ price_id: 'price_none', price: support }, 400, 'price'],
      [{ price_id: 'price_none' }, 404, 'price_none'],
      [{ price: { ...support, currency: 'eur' } }, 400, 'eur'],
      [{ price: { ...support, billing_period: 'WEEKLY', billing_period_count: 7 } }, 400, 'WEEKLY'],
      [{ price: { ...support, billing_period: 'ONETIME', invoice_cadence: 'ARREAR' } }, 400, 'price'],
      [{ price: support, start_date: '2026-03-31T00:00:00Z' }, 400, 'start_date'],
      [{ price: support, start_date: '2026-12-01T00:00:00Z' }, 400, 'start_date'],
      [{ price: support, end_date: '2026-12-02T00:00:00Z' }, 400, 'end_date'],
      [{ price: support, quantity: '-1' }, 400, 'quantity'],
      [{ price: { ...usage, meter_id: plan.meterId }, quantity: '1' }, 400, 'quantity'],
      [{ price: support, commitment_amount: '5' }, 400, 'FIXED'],
      [
        { price: { ...usage, meter_id: plan.meterId }, commitment_amount: '5', commitment_quantity: '5' },
        400,
        'commitment_quantity',
      ],
      [
        { price: { ...usage, meter_id: plan.meterId }, commitment_amount: '5', commitment_windowed: true },
        400,
        'bucket_size',
      ],
      [{ price: support, proration_behavior: 'some' }, 400, 'proration_behavior'],
    ];
    for (const [body, status, word] of cases) {
      const answer = await add(id, body);
      expect([answer.status, (answer.body as unknown as { message: string }).message], word).toEqual([
        status,
        expect.stringContaining(word),
      ]);
    }
    expect((await subscriptionOf(api, id)).version).toBe(1);
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    expect(await add(id, { price: support })).toMatchObject({ status: 400 });
    expect(await add('subs_none', { price: support })).toMatchObject({ status: 404 });
  });
});

describe('changing a line item', () => {
  it('makes a new version with a price of its own, settles advance charges, and bills arrears of both by time', async () => {
    const { id, clockId } = await subscribed();
    const old = await feeOf(id);
    const { body } = await change(old, { amount: '50' });
    expect(body).toMatchObject({
      start_date: '2026-04-16T00:00:00.000Z',
      end_date: null,
      price: { amount: '50', entity_type: 'SUBSCRIPTION', parent_price_id: expect.stringMatching(/^price_/) },
    });
    expect(body.id).not.toBe(old);
    const arrear = (await add(id, { price: { ...support, invoice_cadence: 'ARREAR', amount: '10' } })).body;
    await advanceTo(api, clockId, '2026-04-26T00:00:00Z');
    await change(arrear.id, { amount: '40', effective_from: '2026-04-25T00:00:00Z' });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await totals(id)).toEqual([
      ['SUBSCRIPTION_CREATE', '30'],
      ['SUBSCRIPTION_UPDATE', '10'],
      ['SUBSCRIPTION_CYCLE', '61'],
    ]);
  });

  it('writes metadata alone in place', async () => {
    const { id } = await subscribed();
    const fee = await feeOf(id);
    expect(await change(fee, { metadata: { a: 'b' } })).toMatchObject({ body: { id: fee, metadata: { a: 'b' } } });
    expect(await change(fee, {})).toMatchObject({ status: 200, body: { id: fee } });
    expect((await subscriptionOf(api, id)).version).toBe(2);
  });

  it('refuses a time outside its own, terms that make no price, and what is not there', async () => {
    const { id } = await subscribed();
    const fee = await feeOf(id);
    const cases: [string, object, number][] = [
      [fee, { amount: '5', effective_from: '2026-03-31T00:00:00Z' }, 400],
      [fee, { billing_model: 'TIERED' }, 400],
      [fee, { amount: '-1' }, 400],
      ['subs_line_none', { amount: '5' }, 404],
    ];
    for (const [item, body, status] of cases) expect((await change(item, body)).status).toBe(status);
    await change(fee, { amount: '5', effective_from: '2026-04-20T00:00:00Z' });
    expect((await change(fee, { amount: '6', effective_from: '2026-04-20T00:00:00Z' })).status).toBe(400);
  });
});

describe('ending a line item', () => {
  it('keeps what was paid with none, ends it, and lets the end only come earlier', async () => {
    const { id, clockId } = await subscribed();
    const { body: item } = await add(id, { price: support });
    const later = { effective_from: '2026-05-11T00:00:00Z', proration_behavior: 'none' };
    expect(await end(item.id, later)).toMatchObject({ status: 200, body: { end_date: '2026-05-11T00:00:00.000Z' } });
    expect(await end(item.id, { ...later, effective_from: '2026-05-12T00:00:00Z' })).toMatchObject({ status: 400 });
    expect(await end(item.id, { proration_behavior: 'none' })).toMatchObject({
      body: { id: item.id, end_date: '2026-04-16T00:00:00.000Z' },
    });
    expect(await end(item.id, { proration_behavior: 'none' })).toMatchObject({ status: 400 });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect((await totals(id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', '30']);
  });

  it('refuses a one-time charge, a time before its start, and what is not there', async () => {
    const { id } = await subscribed();
    const { body: once } = await add(id, { price: { ...support, billing_period: 'ONETIME' } });
    expect(await end(once.id)).toMatchObject({ status: 400 });
    expect(await end(await feeOf(id), { effective_from: '2026-03-01T00:00:00Z' })).toMatchObject({ status: 400 });
    expect(await end('subs_line_none')).toMatchObject({ status: 404 });
  });
});

test('line items are searched by what they are of and whether they have ended', async () => {
  const { id, customerId } = await subscribed();
  const { body: item } = await add(id, { price: support });
  await end(item.id, { proration_behavior: 'none', effective_from: '2026-04-17T00:00:00Z' });
  const search = async (body: object) =>
    (
      await api<{ items: Item[]; pagination: { total: number } }>('POST', '/subscriptions/lineitems/search', {
        subscription_ids: [id],
        ...body,
      })
    ).body;
  expect((await search({ active_filter: false })).pagination.total).toBe(3);
  expect((await search({ current_period_start: '2026-04-16T00:00:00Z' })).pagination.total).toBe(3);
  expect((await search({})).pagination.total).toBe(2);
  for (const filter of [
    { price_ids: [item.price_id] },
    { entity_ids: [id], entity_type: 'subscription' },
    { subscription_line_item_ids: [item.id] },
    {
      customer_ids: [customerId],
      filters: [{ field: 'display_name', operator: 'eq', data_type: 'string', value: { string: 'Support' } }],
    },
  ]) {
    expect((await search({ active_filter: false, ...filter })).items.map((found) => found.id)).toEqual([item.id]);
  }
  expect((await search({ currencies: ['EUR'] })).items).toEqual([]);
  expect((await search({ meter_ids: [plan.meterId] })).items).toHaveLength(1);
});

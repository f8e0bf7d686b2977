import { describe, expect, it, test } from 'vitest';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../../support/billing.ts';

const { api } = await testPlatform();
const plan = await monthlyPlan(api, { fee: '30' });

interface Item {
  id: string;
  price_id: string;
  price: { entity_type: string; parent_price_id: string; amount: string };
  start_date: string;
  end_date: string | null;
  commitment_time_buckets: { id: string; price_id: string; commitment_value: string }[];
  code: string;
  message: string;
}

/** A subscription from 1 April 2026 with an item of usage at 1 each, and the event that counts for it. */
async function measured(fields: object = {}, options: { bucket?: string; subscription?: object } = {}) {
  const on = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const body = { customer_id: on.customerId, plan_id: plan.planId, collection_method: 'send_invoice' };
  const { id } = await subscribe(api, { ...body, ...options.subscription });
  const eventName = `seat-${Math.random().toString(36).slice(2)}`;
  const aggregation = options.bucket ? { type: 'SUM', field: 'n', bucket_size: options.bucket } : { type: 'COUNT' };
  const { meter_id } = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: eventName,
    type: 'metered',
    meter: { name: 'Seats', event_name: eventName, aggregation, reset_usage: 'BILLING_PERIOD' },
  });
  const item = await created<Item>(api, `/subscriptions/${id}/lineitems`, {
    price: {
      ...{ type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
      ...{ currency: 'usd', amount: '1', meter_id },
    },
    display_name: 'Seats',
    ...fields,
  });
  return { ...on, id, item, eventName };
}
const put = (itemId: string, body: object) => api<Item>('PUT', `/subscriptions/lineitems/${itemId}`, body);

async function use(externalId: string, eventName: string, day: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: `${eventName}-${day}-${index}`,
    event_name: eventName,
    external_customer_id: externalId,
    timestamp: `2026-${day}T09:30:00Z`,
    properties: { n: 1 },
  }));
  await created(api, '/events/bulk', { events });
}
const seatsOf = async (id: string) =>
  (await invoicesOf(api, id))
    .at(-1)!
    .line_items.filter((line) => line.display_name === 'Seats')
    .map((line) => line.amount);

describe('a commitment is changed on a line item', () => {
  test('by a new version with a price of the subscription’s own, which bills by it; the old one bills by what it had', async () => {
    const { id, clockId, externalId, item, eventName } = await measured({ commitment_amount: '3' });
    await use(externalId, eventName, '04-10', 5);
    await use(externalId, eventName, '05-10', 5);
    const { status, body } = await put(item.id, {
      commitment_quantity: '8',
      commitment_true_up_enabled: true,
      effective_from: '2026-05-01T00:00:00Z',
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      ...{ commitment_type: 'quantity', commitment_quantity: '8', commitment_amount: null },
      ...{ commitment_overage_factor: '1', commitment_true_up_enabled: true, start_date: '2026-05-01T00:00:00.000Z' },
    });
    expect([body.id === item.id, body.price_id === item.price_id]).toEqual([false, false]);
    const items = await api<{ items: Item[] }>('POST', '/subscriptions/lineitems/search', {
      subscription_ids: [id],
      active_filter: false,
    });
    expect(items.body.items.find((one) => one.id === item.id)?.end_date).toBe('2026-05-01T00:00:00.000Z');
    await advanceTo(api, clockId, '2026-05-01T12:00:00Z');
    expect(await seatsOf(id)).toEqual(['5']);
    await advanceTo(api, clockId, '2026-06-01T12:00:00Z');
    expect(await seatsOf(id)).toEqual(['8']);
  });

  test('what is not sent stays, and an amount of 0 takes it away', async () => {
    const terms = { commitment_overage_factor: '2', commitment_true_up_enabled: true };
    const { item } = await measured({ commitment_amount: '3', ...terms });
    const { body: raised } = await put(item.id, { commitment_amount: '4' });
    expect(raised).toMatchObject({ commitment_amount: '4', ...terms });
    const { body: repriced } = await put(raised.id, { amount: '1.5' });
    expect(repriced).toMatchObject({ commitment_amount: '4', ...terms });
    const { body: free } = await put(repriced.id, { commitment_amount: '0' });
    expect(free).toMatchObject({ commitment_type: null, commitment_amount: null, commitment_true_up_enabled: false });
  });

  test('an item that had none gets one, and members that are empty change nothing', async () => {
    const { id, clockId, externalId, item, eventName } = await measured();
    const same = await put(item.id, { commitment_true_up_enabled: false, commitment_time_buckets: [] });
    expect(same).toMatchObject({ status: 200, body: { id: item.id } });
    const { body } = await put(item.id, { commitment_amount: '3', commitment_overage_factor: '2' });
    await use(externalId, eventName, '04-10', 5);
    expect(body).toMatchObject({ commitment_type: 'amount', commitment_amount: '3' });
    await advanceTo(api, clockId, '2026-05-01T12:00:00Z');
    // 3 + 2 × 2
    expect((await seatsOf(id)).at(-1)).toBe('7');
  });

  test('time buckets that are named keep id and price; others are new', async () => {
    const times = (start: number, fields: object = {}) => ({
      ...{ commitment_type: 'amount', commitment_value: '2', overage_factor: '1', true_up_enabled: false },
      ...{ start: { hour: start }, end: { hour: start + 1 }, price: { amount: '5' } },
      ...fields,
    });
    const { item } = await measured(
      { commitment_windowed: true, commitment_time_buckets: [times(8), times(9)] },
      { bucket: 'HOUR' },
    );
    const [first, second] = item.commitment_time_buckets;
    const { price: _, ...kept } = times(10, { id: first!.id, commitment_value: '6' });
    const { status, body } = await put(item.id, {
      commitment_time_buckets: [kept, times(20, { price: { amount: '7' } })],
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const [stays, fresh] = body.commitment_time_buckets;
    expect(stays).toMatchObject({ id: first!.id, price_id: first!.price_id, commitment_value: '6' });
    expect([first!.id, second!.id]).not.toContain(fresh!.id);
    expect(await put(body.id, { commitment_time_buckets: [{ ...kept, id: second!.id }] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(second!.id) },
    });
    const { body: none } = await put(body.id, { commitment_time_buckets: [] });
    expect(none).toMatchObject({ commitment_time_buckets: [], commitment_type: null });
  });

  it.each([
    ['on a fixed price', { commitment_amount: '3' }, 'FIXED', 'fixed'],
    ['with a factor below 1', { commitment_amount: '3', commitment_overage_factor: '0.5' }, 'overage_factor'],
    ['below nothing', { commitment_amount: '-1' }, 'commitment_amount'],
    ['of both kinds', { commitment_amount: '3', commitment_quantity: '3' }, 'commitment_quantity'],
    ['of a type without its value', { commitment_type: 'quantity' }, 'commitment_type'],
    ['of a type that is not its value’s', { commitment_type: 'quantity', commitment_amount: '3' }, 'commitment_type'],
    ['by windows of a meter without any', { commitment_amount: '3', commitment_windowed: true }, 'bucket_size'],
    ['with terms of nothing', { commitment_overage_factor: '2' }, 'commitment_overage_factor'],
    ['that is shorter than a period', { commitment_amount: '3', commitment_duration: 'WEEKLY' }, 'commitment_duration'],
    ['before the item began', { commitment_amount: '3', effective_from: '2026-03-01T00:00:00Z' }, 'effective_from'],
  ])('is refused %s', async (_, body, named, which = 'usage') => {
    const { id, item } = await measured();
    const { body: own } = await api<{ line_items: { id: string; display_name: string }[] }>(
      'GET',
      `/subscriptions/${id}`,
    );
    const fixed = own.line_items.find((line) => line.display_name === 'Base')!;
    const answer = await put(which === 'fixed' ? fixed.id : item.id, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining(named) },
    });
  });

  it('is refused where the subscription is committed as a whole', async () => {
    const { item } = await measured({}, { subscription: { commitment_amount: '100', overage_factor: '2' } });
    expect(await put(item.id, { commitment_amount: '3' })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining('commitment_amount') },
    });
  });
});

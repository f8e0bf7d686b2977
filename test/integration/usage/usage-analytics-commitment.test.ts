import { beforeAll, describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, invoicesOf, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, type Wire } from './analytics.fixture.ts';

const { api } = await testPlatform();
const { ask, feature, plan, send, usagePrice } = analytics(api);
const path = '/events/analytics';

let tokens: Wire;
let calls: Wire;
let tokenPrice: Wire;
let acme: Awaited<ReturnType<typeof clockedCustomer>>;
let subscription: Wire;

const atHour = (hour: number, terms: object) => ({
  commitment_type: 'amount',
  commitment_value: '5',
  overage_factor: '2',
  true_up_enabled: false,
  start: { hour, minute: 0 },
  ...terms,
});

beforeAll(async () => {
  const basic = await plan();
  const owner = { entity_type: 'PLAN', entity_id: basic.id };
  tokens = await feature('tokens', { type: 'SUM', field: 'n', bucket_size: 'HOUR' });
  calls = await feature('calls');
  tokenPrice = await usagePrice(tokens, { ...owner, amount: '1' });
  const callPrice = await usagePrice(calls, { ...owner, amount: '1' });
  acme = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  subscription = await subscribe(api, {
    customer_id: acme.customerId,
    plan_id: basic.id,
    line_item_commitments: {
      [tokenPrice.id]: {
        overage_factor: 1,
        is_window_commitment: true,
        commitment_time_buckets: [
          atHour(22, { end: { hour: 2, minute: 0 }, price: { amount: '3' } }),
          atHour(6, {
            end: { hour: 8, minute: 0 },
            price: { amount: '1' },
            true_up_enabled: true,
            overage_factor: '1',
          }),
        ],
      },
      [callPrice.id]: { commitment_amount: 10, overage_factor: 2, enable_true_up: true },
    },
  });
  const used = (event_name: string, timestamp: string, source: string) => ({
    event_name,
    timestamp,
    source,
    properties: { n: 2 },
  });
  await send(acme.externalId, [
    used('tokens', '2026-01-20T23:10:00Z', 'web'),
    used('tokens', '2026-01-21T01:10:00Z', 'web'),
    used('tokens', '2026-01-21T02:10:00Z', 'cron'),
    ...[5, 12, 20, 21].map((day) => used('calls', `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`, 'web')),
  ]);
  await advanceTo(api, acme.clockId, '2026-02-03T00:00:00Z');
});

const twoDays = { start_time: '2026-01-20T00:00:00Z', end_time: '2026-01-22T00:00:00Z' };
const wholeMonth = () => ({
  start_time: subscription.current_period_start,
  end_time: subscription.current_period_end,
});
async function itemOf(metered: Wire, fields: object): Promise<Wire> {
  const answer = await ask(path, { external_customer_id: acme.externalId, feature_ids: [metered.id], ...fields });
  return answer.items[0];
}

describe('the commitment of a line in analytics', () => {
  test('makes of a whole period what its invoice line costs, and shows how', async () => {
    const month = wholeMonth();
    const [first] = (await invoicesOf(api, subscription.id)).filter((invoice: Wire) => invoice.line_items.length > 0);
    const lines: Wire[] = (first as Wire).line_items;
    for (const metered of [calls, tokens]) {
      const item = await itemOf(metered, month);
      const line = lines.find((each) => each.meter_id === metered.meter_id);
      expect([item.subtotal, item.commitment_info]).toEqual([line.amount, line.commitment_info]);
    }
    expect(await itemOf(calls, month)).toMatchObject({
      subtotal: '10',
      total_cost: '10',
      commitment_info: {
        computed_commitment_utilized_amount: '4.00',
        computed_overage_amount: '0.00',
        computed_true_up_amount: '6.00',
      },
    });
  });

  test('tops up no interval that is shorter than the commitment', async () => {
    expect(await itemOf(calls, twoDays)).toMatchObject({
      subtotal: '2',
      commitment_info: { amount: '10', computed_true_up_amount: '0.00' },
    });
  });

  test('is left out where filters or groups take the usage apart', async () => {
    for (const fields of [{ group_by: ['source'] }, { sources: ['web'] }, { property_filters: { n: ['2'] } }]) {
      const item = await itemOf(calls, { ...wholeMonth(), ...fields });
      expect(item).toMatchObject({ subtotal: '4', commitment_info: null });
    }
    const split = await itemOf(tokens, {
      ...twoDays,
      group_by: ['source'],
      window_size: 'DAY',
      breakdown_bucket: true,
    });
    expect(split).toMatchObject({ commitment_info: null, bucket_summaries: null, points: [{ buckets: null }] });
  });
});

describe('breakdown_bucket', () => {
  test('tells what each time of the day used and came to, and all others together', async () => {
    const [night, morning] = subscription.line_items.find((each: Wire) => each.price_id === tokenPrice.id)
      .commitment_time_buckets as Wire[];
    const item = await itemOf(tokens, { ...twoDays, window_size: 'HOUR', breakdown_bucket: true });
    const nothing = { computed_utilized: '0', computed_overage: '0', computed_true_up: '0' };
    // Two windows of the night cost 6 each, 5 and 1 above × 2; four hours of mornings without usage are topped up.
    expect(item.subtotal).toBe('36');
    expect(item.bucket_summaries).toEqual([
      {
        bucket_id: night.id,
        subscription_line_item_id: item.sub_line_item_id,
        price_id: night.price_id,
        start: { hour: 22, minute: 0 },
        end: { hour: 2, minute: 0 },
        commitment_type: 'amount',
        commitment_value: '5',
        total_usage: '4',
        base_charge: '12',
        computed_utilized: '10',
        computed_overage: '4',
        computed_true_up: '0',
      },
      expect.objectContaining({
        ...nothing,
        bucket_id: morning.id,
        total_usage: '0',
        base_charge: '0',
        computed_true_up: '20',
      }),
      {
        ...nothing,
        bucket_id: null,
        subscription_line_item_id: item.sub_line_item_id,
        price_id: tokenPrice.id,
        start: null,
        end: null,
        commitment_type: null,
        commitment_value: null,
        total_usage: '2',
        base_charge: '2',
      },
    ]);
    const inNight = { bucket_id: night.id, price_id: night.price_id };
    const outside = { bucket_id: null, price_id: tokenPrice.id };
    expect(item.points).toMatchObject([
      {
        timestamp: '2026-01-20T23:00:00.000Z',
        cost: '7',
        computed_commitment_utilized_amount: '5',
        computed_overage_amount: '2',
        computed_true_up_amount: '0',
        buckets: [inNight],
      },
      { cost: '7', buckets: [inNight] },
      { cost: '2', computed_commitment_utilized_amount: '0', buckets: [outside] },
    ]);
    const days = await itemOf(tokens, { ...twoDays, window_size: 'DAY', breakdown_bucket: true });
    expect(days.points.map((point: Wire) => [point.cost, point.buckets])).toEqual([
      ['7', [inNight]],
      ['9', [inNight, outside]],
    ]);
  });

  test('shows nothing of it unless asked, nor of lines without time buckets', async () => {
    const plain = await itemOf(tokens, { ...twoDays, window_size: 'HOUR' });
    expect([plain.bucket_summaries, plain.points[0].buckets]).toEqual([null, null]);
    const { items } = await ask(path, {
      external_customer_id: acme.externalId,
      ...twoDays,
      window_size: 'HOUR',
      breakdown_bucket: true,
    });
    expect(items.map((item: Wire) => [item.name, item.bucket_summaries?.length ?? null])).toEqual([
      ['calls', null],
      ['tokens', 3],
    ]);
  });

  test('is in the detailed usage of meters too', async () => {
    const { items } = await ask('/meter-usage/detailed-analytics', {
      external_customer_id: acme.externalId,
      ...twoDays,
      window_size: 'HOUR',
      breakdown_bucket: true,
    });
    const ofMeter = (metered: Wire) => items.find((item: Wire) => item.meter_id === metered.meter_id);
    expect(ofMeter(tokens).bucket_summaries.map((row: Wire) => row.total_usage)).toEqual(['4', '0', '2']);
    expect(ofMeter(tokens).points.map((point: Wire) => point.buckets.length)).toEqual([1, 1, 1]);
    expect(ofMeter(calls)).toMatchObject({ bucket_summaries: null, points: [{ buckets: null }, { buckets: null }] });
  });

  test('is refused for a customer whose lines have no time buckets', async () => {
    const other = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    const answer = await api<Wire>('POST', path, {
      external_customer_id: other.externalId,
      window_size: 'HOUR',
      breakdown_bucket: true,
    });
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      400,
      'validation_error',
      expect.stringContaining('breakdown_bucket'),
    ]);
  });
});

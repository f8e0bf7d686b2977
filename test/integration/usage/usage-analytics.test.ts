import { beforeAll, describe, expect, test } from 'vitest';
import { costOfQuantity } from '../../../billing/price/price.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { advanceTo, clockedCustomer, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, at, january, type Wire } from './analytics.fixture.ts';

const { api, base } = await testPlatform();
const { ask, basicOffer, refused, send } = analytics(api);
const path = '/events/analytics';

let calls: Wire;
let storage: Wire;
let basic: Wire;
let acme: Awaited<ReturnType<typeof clockedCustomer>>;
let subscription: Wire;

beforeAll(async () => {
  ({ basic, calls, storage } = await basicOffer());
  acme = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  subscription = await subscribe(api, { customer_id: acme.customerId, plan_id: basic.id });
  const call = (timestamp: string, n: string, region: string, source?: string) => ({
    event_name: 'calls',
    timestamp,
    properties: { n, region },
    ...(source ? { source } : {}),
  });
  const text = (day: number, country: string) => ({ event_name: 'sms', timestamp: at(day), properties: { country } });
  await send(acme.externalId, [
    call('2025-12-31T23:59:59Z', '99', 'eu'),
    call(at(1, '00:00:00'), '4.5', 'eu', 'web'),
    call(at(5), '6', 'us', 'web'),
    call(at(5, '13:00:00'), '2', 'eu', 'cron'),
    call(at(20), '1.25', 'ap'),
    call('2026-02-01T00:00:00Z', '77', 'eu'),
    { event_name: 'storage', timestamp: at(9), properties: { gb: '1500' } },
    { event_name: 'storage', timestamp: at(11), properties: { gb: '900' } },
    text(2, 'de'),
    text(3, 'fr'),
    text(4, 'de'),
    text(5, 'fr'),
    text(6, 'it'),
  ]);
  await advanceTo(api, acme.clockId, '2026-02-03T00:00:00Z');
});

const ofAcme = (fields: object = {}) => ask(path, { external_customer_id: acme.externalId, ...january, ...fields });
const itemOf = (answer: Wire, name: string) => answer.items.find((item: Wire) => item.name === name);

describe('the costs', () => {
  test('of a period are what its invoice lines are rated at, before allowances', async () => {
    const { items, subtotal } = await ofAcme();
    const stored = await inTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ subscription_line_item_id: string; amount: string; derivation: Wire }>(
        `select l.subscription_line_item_id, l.amount, l.derivation from invoice_line_item l join invoice i on i.id = l.invoice_id
         where i.subscription_id = $1 and i.period_start = '2026-01-01' and i.invoice_status = 'FINALIZED' and l.price_type = 'USAGE'`,
        [subscription.id],
      ),
    );
    expect(stored).toHaveLength(3);
    for (const { subscription_line_item_id: id, derivation, amount } of stored) {
      const item = items.find((each: Wire) => each.sub_line_item_id === id);
      const [part] = derivation.parts;
      expect(item.total_usage).toBe(part.usage.quantity);
      const rated = costOfQuantity(derivation.price as PriceTerms, part.usage.quantity).cost;
      expect(item.subtotal).toBe(rated.toFixed());
      // Without an allowance this is the line itself, but for its rounding.
      if (part.allowance === null) expect(Number(rated.toFixed(2))).toBe(Number(amount));
    }
    // 10 × 1 + 3.75 × 0.3333; 1500 × 0.015; 2 packages × 5
    expect(items.map((item: Wire) => [item.name, item.total_usage, item.subtotal])).toEqual([
      ['calls', '13.75', '11.249875'],
      ['sms', '4', '10'],
      ['storage', '1500', '22.5'],
    ]);
    expect(subtotal).toBe('43.749875');
  });

  test('are told with every documented key', async () => {
    const answer = await ofAcme({ feature_ids: [storage.id] });
    expect(answer).toEqual({
      subtotal: '22.5',
      total_discount: '0',
      total_cost: '22.5',
      currency: 'usd',
      custom_analytics: [],
      items: [
        {
          feature_id: storage.id,
          name: 'storage',
          price_id: expect.stringMatching(/^price_/),
          meter_id: storage.meter_id,
          sub_line_item_id: expect.any(String),
          subscription_id: subscription.id,
          plan_id: basic.id,
          add_on_id: null,
          event_name: 'storage',
          source: null,
          sources: null,
          unit: null,
          unit_plural: null,
          aggregation_type: 'MAX',
          total_usage: '1500',
          total_usage_display: '1.5',
          reporting_unit: { unit_singular: 'TB', unit_plural: 'TB', conversion_rate: 0.001 },
          subtotal: '22.5',
          total_discount: '0',
          total_cost: '22.5',
          currency: 'usd',
          event_count: 2,
          properties: {},
          commitment_info: null,
          window_size: null,
          group: null,
          points: [],
          bucket_summaries: null,
          price: null,
          meter: null,
          feature: null,
          subscription_line_item: null,
          plan: null,
          addon: null,
        },
      ],
    });
    expect((await ofAcme({ feature_ids: [calls.id] })).items[0]).toMatchObject({ unit: 'call', unit_plural: 'calls' });
  });

  test('of a line are those of the part of the interval in which it is in force', async () => {
    const { items } = await ofAcme({ start_time: '2025-06-01T00:00:00Z', end_time: '2026-01-05T12:00:00Z' });
    expect(items.map((item: Wire) => [item.name, item.total_usage])).toEqual([
      ['calls', '4.5'],
      ['sms', '3'],
      ['storage', '0'],
    ]);
    const before = { start_time: '2025-06-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };
    expect((await ofAcme(before)).items).toEqual([]);
    expect((await ofAcme({ start_time: january.start_time, end_time: january.start_time })).items).toEqual([]);
  });

  test('are of the seven days before the customer’s present where nothing is said', async () => {
    const { items } = await ask(path, { external_customer_id: acme.externalId, feature_ids: [calls.id] });
    expect(items).toMatchObject([{ total_usage: '77', event_count: 1 }]);
  });
});

describe('groups', () => {
  test('by source and by property are priced each on its own, and only those with events appear', async () => {
    const bySource = await ofAcme({ group_by: ['source'], feature_ids: [calls.id, storage.id] });
    expect(bySource.items.map((item: Wire) => [item.name, item.source, item.total_usage, item.subtotal])).toEqual([
      ['calls', '', '1.25', '1.25'],
      ['calls', 'cron', '2', '2'],
      ['calls', 'web', '10.5', '10.16665'],
      ['storage', '', '1500', '22.5'],
    ]);
    const byRegion = await ofAcme({
      group_by: ['properties.region', 'feature_id', 'meter_id'],
      feature_ids: [calls.id],
    });
    expect(byRegion.items.map((item: Wire) => [item.properties, item.total_usage, item.event_count])).toEqual([
      [{ region: 'ap' }, '1.25', 1],
      [{ region: 'eu' }, '6.5', 2],
      [{ region: 'us' }, '6', 1],
    ]);
    expect(byRegion.subtotal).toBe('13.75');
    const both = await ofAcme({ group_by: ['source', 'properties.region'], feature_ids: [calls.id] });
    expect(both.items.map((item: Wire) => [item.source, item.properties.region, item.total_usage])).toEqual([
      ['', 'ap', '1.25'],
      ['cron', 'eu', '2'],
      ['web', 'eu', '4.5'],
      ['web', 'us', '6'],
    ]);
  });

  test('that nothing takes apart appear with zeros, and sources are listed on request', async () => {
    const quiet = { start_time: at(25), end_time: at(28) };
    expect((await ofAcme(quiet)).items.map((item: Wire) => [item.total_usage, item.total_cost])).toEqual([
      ['0', '0'],
      ['0', '0'],
      ['0', '0'],
    ]);
    for (const fields of [{ sources: ['web'] }, { property_filters: { n: ['1'] } }, { group_by: ['source'] }]) {
      expect((await ofAcme({ ...quiet, ...fields })).items).toEqual([]);
    }
    expect((await ofAcme({ ...quiet, group_by: ['feature_id'] })).items).toHaveLength(3);
    const { items } = await ofAcme({ expand: ['source'] });
    expect(items.map((item: Wire) => item.sources)).toEqual([['cron', 'web'], [], []]);
  });

  test('are made of what sources and property filters leave', async () => {
    const { items } = await ofAcme({ sources: ['web', 'cron'] });
    expect(items.map((item: Wire) => [item.name, item.total_usage])).toEqual([['calls', '12.5']]);
    const filtered = await ofAcme({ property_filters: { region: ['eu', 'ap'] }, sources: ['web', 'cron'] });
    expect(filtered.items).toMatchObject([{ name: 'calls', total_usage: '6.5' }]);
    // The price takes de and fr; both conditions on one property must hold.
    const german = await ofAcme({ property_filters: { country: ['de', 'it'] } });
    expect(german.items).toMatchObject([{ name: 'sms', total_usage: '2', subtotal: '5' }]);
    expect((await ofAcme({ property_filters: { country: ['it'] } })).items).toEqual([]);
  });
});

describe('windows', () => {
  test('have points in the customer’s zone, each priced on its own, none without events', async () => {
    const daily = itemOf(await ofAcme({ window_size: 'DAY' }), 'calls');
    expect(daily).toMatchObject({ total_usage: '13.75', window_size: 'DAY' });
    expect(
      daily.points.map(({ timestamp, usage, subtotal, event_count }: Wire) => [
        timestamp,
        usage,
        subtotal,
        event_count,
      ]),
    ).toEqual([
      ['2026-01-01T00:00:00.000Z', '4.5', '4.5', 1],
      ['2026-01-05T00:00:00.000Z', '8', '8', 2],
      ['2026-01-20T00:00:00.000Z', '1.25', '1.25', 1],
    ]);
    expect(daily.points[0]).toEqual({
      timestamp: '2026-01-01T00:00:00.000Z',
      usage: '4.5',
      subtotal: '4.5',
      discount: '0',
      cost: '4.5',
      event_count: 1,
      computed_commitment_utilized_amount: null,
      computed_overage_amount: null,
      computed_true_up_amount: null,
      buckets: null,
    });
    const minutes = itemOf(await ofAcme({ window_size: '15MIN', end_time: at(6) }), 'calls');
    expect(minutes.points.map((point: Wire) => point.timestamp)).toEqual([
      at(1, '00:00:00.000'),
      at(5, '12:00:00.000'),
      at(5, '13:00:00.000'),
    ]);
    const grouped = await ofAcme({ window_size: 'MONTH', group_by: ['source'], feature_ids: [calls.id] });
    expect(grouped.items.map((item: Wire) => [item.source, item.points.map((point: Wire) => point.usage)])).toEqual([
      ['', ['1.25']],
      ['cron', ['2']],
      ['web', ['10.5']],
    ]);
  });
});

describe('what hangs on an item', () => {
  test('is shown where it is asked for', async () => {
    const expand = ['price', 'meter', 'feature', 'subscription_line_item', 'plan', 'addon'];
    const [item] = (await ofAcme({ feature_ids: [calls.id], expand })).items;
    expect(item).toMatchObject({
      price: { id: item.price_id, tier_mode: 'SLAB' },
      meter: { id: calls.meter_id, event_name: 'calls' },
      feature: { id: calls.id, name: 'calls' },
      subscription_line_item: { id: item.sub_line_item_id, subscription_id: subscription.id },
      plan: { id: basic.id },
      addon: null,
    });
  });
});

test('the setting custom_analytics_config adds its figures', async () => {
  const rule = (target_type: string, target_id: string) => ({ id: 'revenue-per-minute', target_type, target_id });
  const rules = [rule('feature', storage.id), rule('event_name', 'sms'), rule('meter', 'meter_unknown')];
  const set = await api('PUT', '/settings/custom_analytics_config', { value: { rules } });
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  const { custom_analytics } = await ofAcme();
  // 22.50 and 10 over the 44 640 minutes of January
  const figure = { id: 'revenue-per-minute', name: 'Revenue per minute' };
  expect(custom_analytics).toEqual([
    { ...figure, type: 'feature', feature_name: 'storage', value: '0.000504032258065' },
    { ...figure, type: 'event_name', feature_name: 'sms', value: '0.000224014336918' },
  ]);
});

describe('a question is refused', () => {
  const asked = (fields: object) => refused(path, { external_customer_id: acme.externalId, ...fields });
  test.each([
    ['group_by', { group_by: ['region'] }],
    ['group_by', { group_by: ['properties.a-b'] }],
    ['group_by', { group_by: ['properties.'] }],
    ['expand', { expand: ['customer'] }],
    ['window_size', { window_size: 'YEAR' }],
    ['end_time', { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }],
    ['start_time', { start_time: 'yesterday' }],
    ['property_filters', { property_filters: { region: 'eu' } }],
    ['feature_ids', { feature_ids: [''] }],
    ['breakdown_bucket', { breakdown_bucket: true }],
    ['breakdown_bucket', { breakdown_bucket: true, window_size: 'HOUR' }],
    ['window_size', { window_size: 'MINUTE', start_time: '2020-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }],
  ])('for its %s: %j', async (field, fields) => {
    expect(await asked(fields)).toEqual([400, 'validation_error', expect.stringContaining(field)]);
  });

  test('without a customer, and with an unknown one', async () => {
    expect(await refused(path, {})).toEqual([400, 'validation_error', expect.stringContaining('external_customer_id')]);
    expect(await asked({ external_customer_id: 'nobody' })).toEqual([404, 'not_found', expect.any(String)]);
  });
});

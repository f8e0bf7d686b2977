import { beforeAll, describe, expect, test } from 'vitest';
import { costOfBuckets } from '../../../billing/price/price.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { advanceTo, clockedCustomer, created, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, january, type Wire } from './analytics.fixture.ts';

const { api, base } = await testPlatform();
const { ask, costPrice, feature, plan, send, usagePrice } = analytics(api);
const path = '/events/analytics';
const at = (day: number, time: string) => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

let cpu: Wire;
let traffic: Wire;
let points: Wire;
let acme: Awaited<ReturnType<typeof clockedCustomer>>;
let subscription: Wire;

const tiers = [
  { up_to: 10, unit_amount: '1' },
  { up_to: null, unit_amount: '3' },
];

beforeAll(async () => {
  const basic = await plan();
  cpu = await feature('cpu', { type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'host' });
  traffic = await feature('traffic', { type: 'SUM', field: 'n', bucket_size: '15MIN' });
  points = await feature('points', { type: 'SUM', expression: 'n * 2 + bonus' });
  const owner = { entity_type: 'PLAN', entity_id: basic.id };
  const slab = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers };
  await usagePrice(cpu, { ...owner, ...slab });
  await usagePrice(traffic, { ...owner, ...slab });
  await usagePrice(points, { ...owner, amount: '0.1' });
  acme = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', timezone: 'Asia/Kolkata' });
  subscription = await subscribe(api, { customer_id: acme.customerId, plan_id: basic.id });
  const used = (event_name: string, timestamp: string, properties: object, source = 'web') => ({
    event_name,
    timestamp,
    source,
    properties,
  });
  await send(acme.externalId, [
    // Two hosts in one hour of the customer's clock, which begins at half past in UTC, and one in the next.
    used('cpu', at(5, '10:35:00'), { n: '12', host: 'a', region: 'eu' }),
    used('cpu', at(5, '10:50:00'), { n: '8', host: 'a', region: 'us' }),
    used('cpu', at(5, '11:10:00'), { n: '5', host: 'b', region: 'eu' }),
    used('cpu', at(5, '11:30:00'), { n: '7', host: 'a', region: 'eu' }, 'cron'),
    used('traffic', at(6, '00:01:00'), { n: '8' }),
    used('traffic', at(6, '00:14:59'), { n: '6' }),
    used('traffic', at(6, '00:15:00'), { n: '3' }),
    used('traffic', at(20, '00:15:00'), { n: '11' }, 'cron'),
    used('points', at(7, '00:00:00'), { n: '4', bonus: '1' }),
    used('points', at(8, '00:00:00'), { n: '1', bonus: '0' }, 'cron'),
    used('points', at(9, '00:00:00'), { n: 'many' }),
  ]);
  await advanceTo(api, acme.clockId, '2026-02-03T00:00:00Z');
});

const ofAcme = (fields: object = {}) =>
  ask(path, {
    external_customer_id: acme.externalId,
    start_time: subscription.current_period_start,
    end_time: subscription.current_period_end,
    ...fields,
  });
const rowsOf = (answer: Wire) => answer.items.map((item: Wire) => [item.name, item.total_usage, item.subtotal]);

describe('bucketed usage', () => {
  test('costs what its invoice line is rated at: each bucket, and each group in it, on its own', async () => {
    const answer = await ofAcme();
    // 12, 5 and 7: (10 + 6) + 5 + 7; quarters of 14, 3 and 11: (10 + 12) + 3 + (10 + 3); 9 + 2 points
    expect(rowsOf(answer)).toEqual([
      ['cpu', '24', '28'],
      ['points', '11', '1.1'],
      ['traffic', '28', '38'],
    ]);
    const lines = await inTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ id: string; derivation: Wire }>(
        `select l.subscription_line_item_id as id, l.derivation from invoice_line_item l join invoice i on i.id = l.invoice_id
         where i.subscription_id = $1 and i.invoice_status = 'FINALIZED' and l.price_type = 'USAGE'`,
        [subscription.id],
      ),
    );
    expect(lines).toHaveLength(3);
    for (const { id, derivation } of lines) {
      const item = answer.items.find((each: Wire) => each.sub_line_item_id === id);
      const [part] = derivation.parts;
      expect(item.total_usage).toBe(part.usage.quantity);
      expect(item.subtotal).toBe(part.cost);
      if (part.buckets) {
        const values = part.buckets.map((bucket: Wire) => bucket.value);
        expect(item.subtotal).toBe(costOfBuckets(derivation.price as PriceTerms, values).cost.toFixed());
      }
    }
  });

  test('has points that are buckets, or windows of them when those are larger', async () => {
    const pointsOf = async (fields: object, name: string) => {
      const item = (await ofAcme(fields)).items.find((each: Wire) => each.name === name);
      return item.points.map(({ timestamp, usage, subtotal, event_count }: Wire) => [
        timestamp,
        usage,
        subtotal,
        event_count,
      ]);
    };
    const hours = [
      ['2026-01-05T10:30:00.000Z', '17', '21', 3],
      ['2026-01-05T11:30:00.000Z', '7', '7', 1],
    ];
    expect(await pointsOf({ window_size: 'HOUR', feature_ids: [cpu.id] }, 'cpu')).toEqual(hours);
    expect(await pointsOf({ window_size: 'MINUTE', feature_ids: [cpu.id] }, 'cpu')).toEqual(hours);
    expect(await pointsOf({ window_size: 'DAY' }, 'cpu')).toEqual([['2026-01-04T18:30:00.000Z', '24', '28', 4]]);
    expect(await pointsOf({ window_size: 'DAY' }, 'traffic')).toEqual([
      ['2026-01-05T18:30:00.000Z', '17', '25', 3],
      ['2026-01-19T18:30:00.000Z', '11', '13', 1],
    ]);
  });

  test('is taken apart by source and property, of expressions too', async () => {
    const bySource = await ofAcme({ group_by: ['source'] });
    expect(bySource.items.map((item: Wire) => [item.name, item.source, item.total_usage, item.subtotal])).toEqual([
      ['cpu', 'cron', '7', '7'],
      ['cpu', 'web', '17', '21'],
      ['points', 'cron', '2', '0.2'],
      ['points', 'web', '9', '0.9'],
      ['traffic', 'cron', '11', '13'],
      ['traffic', 'web', '17', '25'],
    ]);
    const eu = await ofAcme({ property_filters: { region: ['us'] }, expand: ['source'] });
    expect(eu.items).toMatchObject([{ name: 'cpu', total_usage: '8', subtotal: '8', sources: ['web'] }]);
  });
});

test('the usage of meters alone goes by their buckets', async () => {
  const asked = { external_customer_id: acme.externalId, ...january };
  const query = { ...asked, meter_id: cpu.meter_id, aggregation_type: 'MAX', window_size: 'MINUTE' };
  expect(await ask('/meter-usage/query', query)).toMatchObject({
    total_value: '24',
    event_count: 4,
    points: [
      { timestamp: '2026-01-05T10:30:00.000Z', value: '17', event_count: 3 },
      { timestamp: '2026-01-05T11:30:00.000Z', value: '7', event_count: 1 },
    ],
  });
  expect(await ask('/meter-usage/query', { ...query, aggregation_type: 'COUNT', window_size: 'DAY' })).toMatchObject({
    total_value: '4',
    points: [{ value: '4' }],
  });
  const { items } = await ask('/meter-usage/detailed-analytics', {
    ...asked,
    meter_ids: [cpu.meter_id],
    window_size: 'DAY',
  });
  expect(items).toMatchObject([{ total_usage: '24', max_usage: '12', event_count: 4, points: [{ value: '24' }] }]);
});

test('a cost sheet prices buckets on their own', async () => {
  const sheet = await created<Wire>(api, '/costs', { name: 'Suppliers' });
  await costPrice(sheet, cpu, { billing_model: 'TIERED', tier_mode: 'SLAB', tiers });
  const answer = await ask('/costs/analytics', { external_customer_id: acme.externalId, ...january });
  expect(answer.cost_analytics).toMatchObject([{ total_quantity: '24', total_cost: '28', total_events: 4 }]);
});

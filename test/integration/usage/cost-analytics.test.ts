import { beforeAll, describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, january, type Wire } from './analytics.fixture.ts';

const { api } = await testPlatform();
const { ask, costPrice, feature, plan, refused, send, usagePrice } = analytics(api);
const path = '/costs/analytics';
const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T12:00:00Z`;

let tokens: Wire;
let storage: Wire;
let costsheet: Wire;
let tokenCost: Wire;
let acme: Awaited<ReturnType<typeof clockedCustomer>>;

const token = (day: number, n: string, model: string) => ({
  event_name: 'tokens',
  timestamp: at(day),
  properties: { n, model },
});

beforeAll(async () => {
  const basic = await plan();
  tokens = await feature('tokens', { type: 'SUM', field: 'n' });
  storage = await feature('storage', { type: 'MAX', field: 'gb' });
  await usagePrice(tokens, { entity_type: 'PLAN', entity_id: basic.id, amount: '0.5' });
  const frozenTime = '2026-01-01T00:00:00Z';
  acme = await clockedCustomer(api, { frozenTime });
  const globex = await clockedCustomer(api, { frozenTime });
  for (const { customerId } of [acme, globex]) await subscribe(api, { customer_id: customerId, plan_id: basic.id });
  await send(acme.externalId, [
    token(2, '100', 'big'),
    token(3, '50', 'small'),
    { event_name: 'storage', timestamp: at(4), properties: { gb: '8' } },
  ]);
  await send(globex.externalId, [token(5, '30', 'big')]);
  await advanceTo(api, acme.clockId, '2026-02-03T00:00:00Z');
});

const ofAcme = (fields: object = {}) => ask(path, { external_customer_id: acme.externalId, ...january, ...fields });

describe('without a cost sheet', () => {
  test('there is revenue and no cost', async () => {
    expect(await ofAcme()).toEqual({
      cost_analytics: [],
      total_revenue: '75',
      total_cost: '0',
      margin: '75',
      margin_percent: '100',
      roi: '0',
      roi_percent: '0',
      currency: 'usd',
      start_time: '2026-01-01T00:00:00.000Z',
      end_time: '2026-02-01T00:00:00.000Z',
    });
  });
});

describe('with a cost sheet', () => {
  beforeAll(async () => {
    costsheet = await created<Wire>(api, '/costs', { name: 'Suppliers' });
    const tiers = [
      { up_to: 100, unit_amount: '0.2' },
      { up_to: null, unit_amount: '0.1' },
    ];
    const slab = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers };
    tokenCost = await costPrice(costsheet, tokens, slab);
    await costPrice(costsheet, storage, { amount: '0.25' });
    // A price that prices no usage takes no part.
    await costPrice(costsheet, storage, { type: 'FIXED', meter_id: null, amount: '1000' });
  });

  test('usage costs what the sheet asks, and the margin is what is left of the revenue', async () => {
    const answer = await ofAcme({ expand: ['meter', 'price'] });
    // 150 tokens: 100 × 0.2 + 50 × 0.1; 8 GB × 0.25. Revenue: 150 × 0.5, storage is not sold.
    expect(answer).toMatchObject({
      total_revenue: '75',
      total_cost: '27',
      margin: '48',
      margin_percent: '64',
      roi: '1.777777777777778',
      roi_percent: '177.777777777777778',
      currency: 'usd',
    });
    expect(answer.cost_analytics[0]).toEqual({
      costsheet_id: costsheet.id,
      customer_id: acme.customerId,
      external_customer_id: acme.externalId,
      meter_id: tokens.meter_id,
      meter_name: 'tokens',
      price_id: tokenCost.id,
      source: null,
      properties: {},
      total_quantity: '150',
      total_events: 2,
      total_cost: '25',
      currency: 'usd',
      cost_by_period: [
        { timestamp: '2026-01-02T00:00:00.000Z', quantity: '100', event_count: 1, cost: '20' },
        { timestamp: '2026-01-03T00:00:00.000Z', quantity: '50', event_count: 1, cost: '10' },
      ],
      meter: expect.objectContaining({ id: tokens.meter_id }),
      price: expect.objectContaining({ id: tokenCost.id, entity_type: 'COSTSHEET' }),
    });
    expect(answer.cost_analytics).toHaveLength(2);
    expect(await ask('/costs/analytics-v2', { external_customer_id: acme.externalId, ...january })).toEqual(
      await ofAcme(),
    );
  });

  test('of all customers it is their usage together, and what they all pay', async () => {
    const answer = await ask(path, january);
    // 180 tokens: 100 × 0.2 + 80 × 0.1; the storage; revenue 180 × 0.5.
    expect(answer).toMatchObject({ total_revenue: '90', total_cost: '30', margin: '60', currency: 'usd' });
    expect(answer.cost_analytics[0]).toMatchObject({ customer_id: null, total_quantity: '180', total_events: 3 });
  });

  test('features and properties choose usage on both sides, and rows can be paged', async () => {
    expect(await ofAcme({ feature_ids: [storage.id] })).toMatchObject({
      total_revenue: '0',
      total_cost: '2',
      margin: '-2',
      margin_percent: '0',
      roi: '-1',
    });
    const big = await ofAcme({ property_filters: { model: ['big'] } });
    expect(big).toMatchObject({ total_revenue: '50', total_cost: '20' });
    const page = await ofAcme({ limit: 1, offset: 1 });
    expect(page).toMatchObject({ total_cost: '27', cost_analytics: [{ meter_name: 'storage' }] });
    expect(page.cost_analytics).toHaveLength(1);
  });

  test('children count with their parent when that is asked for', async () => {
    const parent = await created<Wire>(api, '/customers', { external_id: 'parent', name: 'Parent' });
    await created(api, '/customers', { external_id: 'child', name: 'Child', parent_customer_id: parent.id });
    await send('child', [token(6, '40', 'big')]);
    const of = (fields: object) => ask(path, { external_customer_id: 'parent', ...january, ...fields });
    expect(await of({})).toMatchObject({ total_cost: '0' });
    expect(await of({ include_children: true })).toMatchObject({
      total_cost: '8',
      total_revenue: '0',
      currency: 'usd',
    });
  });

  test('a superseded price and its successor each price their own time', async () => {
    const successor = await api<Wire>('PUT', `/prices/${tokenCost.id}`, { tiers: [{ up_to: null, unit_amount: '9' }] });
    expect(successor.status).toBe(200);
    const { cost_analytics } = await ofAcme({ feature_ids: [tokens.id] });
    expect(cost_analytics.map((item: Wire) => [item.price_id, item.total_cost])).toEqual([[tokenCost.id, '25']]);
    const now = await ask(path, {
      external_customer_id: acme.externalId,
      start_time: at(1),
      end_time: '2100-01-01T00:00:00Z',
    });
    expect(now.cost_analytics.map((item: Wire) => item.total_cost)).toEqual(['25', '2', '0']);
  });

  test('what is in another currency than the revenue is listed, and left out of the totals', async () => {
    const euros = await created<Wire>(api, '/costs', { name: 'European suppliers' });
    await costPrice(euros, tokens, { amount: '1', currency: 'eur' });
    const answer = await ofAcme();
    expect(answer).toMatchObject({ total_revenue: '75', total_cost: '0', currency: 'usd' });
    expect(answer.cost_analytics).toMatchObject([{ currency: 'eur', total_cost: '150' }]);
    // Without revenue the sheet's currency is the answer's.
    const child = await ask(path, { external_customer_id: 'child', ...january });
    expect(child).toMatchObject({ total_revenue: '0', total_cost: '40', currency: 'eur' });
    expect((await api('DELETE', `/costs/${euros.id}`)).status).toBe(200);
  });
});

describe('the interval', () => {
  test('is the seven days before the customer’s present, or both times', async () => {
    const answer = await ask(path, { external_customer_id: acme.externalId });
    expect(answer).toMatchObject({ start_time: '2026-01-27T00:00:00.000Z', end_time: '2026-02-03T00:00:00.000Z' });
    for (const [field, fields] of [
      ['end_time', { start_time: at(1) }],
      ['start_time', { end_time: at(1) }],
      ['end_time', { start_time: at(2), end_time: at(1) }],
    ] as const) {
      expect(await refused(path, fields)).toEqual([400, 'validation_error', expect.stringContaining(field)]);
    }
  });

  test('and everything else is refused where it is wrong', async () => {
    expect(await refused(path, { external_customer_id: 'nobody' })).toEqual([404, 'not_found', expect.any(String)]);
    expect(await refused(path, { expand: ['plan'] })).toEqual([
      400,
      'validation_error',
      expect.stringContaining('expand'),
    ]);
    const filters = { property_filters: { model: 'big' } };
    expect(await refused(path, filters)).toEqual([
      400,
      'validation_error',
      expect.stringContaining('property_filters'),
    ]);
  });
});

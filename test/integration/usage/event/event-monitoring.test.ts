import { beforeAll, describe, expect, test } from 'vitest';
import { clockedCustomer, subscribe, testPlatform } from '../../../support/billing.ts';
import { analytics, type Wire } from '../analytics.fixture.ts';

const { api } = await testPlatform();
const { ask, feature, plan, refused, send, usagePrice } = analytics(api);
const at = (day: number, time = '12:00:00') => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

async function monitored(query: string): Promise<Wire> {
  const answer = await api<Wire>('GET', `/events/monitoring${query}`);
  return answer.status === 200 ? answer.body : [answer.status, answer.body.code, answer.body.message];
}

beforeAll(async () => {
  const basic = await plan();
  const owner = { entity_type: 'PLAN', entity_id: basic.id };
  const tokens = await feature('tokens', { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0.001' });
  const requests = await feature('requests', { type: 'COUNT' });
  const images = await feature('images', { type: 'COUNT' });
  const tiers = [
    { up_to: 10, unit_amount: '0.003' },
    { up_to: null, unit_amount: '0.001' },
  ];
  await usagePrice(tokens, { ...owner, billing_model: 'TIERED', tier_mode: 'SLAB', tiers });
  await usagePrice(requests, { ...owner, amount: '0.0000000005', filter_values: { model: ['big', 'small'] } });
  await usagePrice(images, { ...owner, amount: '2', currency: 'eur' });
  const acme = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  for (const currency of ['usd', 'eur']) {
    await subscribe(api, { customer_id: acme.customerId, plan_id: basic.id, currency });
  }
  const event = (event_id: string, event_name: string, timestamp: string, properties: object) => ({
    event_id,
    event_name,
    timestamp,
    properties,
  });
  await send(acme.externalId, [
    event('r-1', 'tokens', at(2), { n: '1500' }),
    event('r-2', 'tokens', at(3), { n: 20000 }),
    event('r-3', 'requests', at(3, '12:59:59'), { model: 'big' }),
    event('r-4', 'requests', at(3, '13:00:00'), { model: 'other' }),
    event('r-5', 'images', at(4), {}),
    event('r-6', 'tokens', '2025-12-31T23:59:59Z', { n: '1' }),
    event('r-7', 'nothing counts this', at(5), {}),
    event('r-8', 'tokens', at(6), { n: '-5' }),
  ]);
  await send('nobody', [event('r-9', 'tokens', at(6), { n: '5' })]);
});

describe('GET /events/monitoring', () => {
  test('counts events by their time, in windows with events', async () => {
    expect(await monitored(`?start_time=${at(1)}&end_time=${at(4)}`)).toEqual({
      total_count: 4,
      consumption_lag: 0,
      post_processing_lag: 0,
      points: [
        { timestamp: at(2, '12:00:00.000'), event_count: 1 },
        { timestamp: at(3, '12:00:00.000'), event_count: 2 },
        { timestamp: at(3, '13:00:00.000'), event_count: 1 },
      ],
    });
    const daily = await monitored(`?start_time=${at(1)}&end_time=2026-02-01T00:00:00Z&window_size=DAY`);
    expect(daily).toMatchObject({ total_count: 8 });
    expect(daily.points.map((point: Wire) => point.event_count)).toEqual([1, 3, 1, 1, 2]);
  });

  test('is about the last 24 hours where nothing is said', async () => {
    expect(await monitored('')).toMatchObject({ total_count: 0, points: [] });
    await send('nobody', [{ event_name: 'now' }]);
    expect(await monitored('')).toMatchObject({ total_count: 1, points: [{ event_count: 1 }] });
  });

  test.each([
    ['end_time', `?start_time=${at(1)}`],
    ['start_time', `?end_time=${at(1)}`],
    ['end_time', `?start_time=${at(2)}&end_time=${at(1)}`],
    ['window_size', '?window_size=YEAR'],
    ['window_size', `?start_time=2000-01-01T00:00:00Z&end_time=${at(1)}&window_size=MINUTE`],
  ])('is refused for its %s: %s', async (field, query) => {
    expect(await monitored(query)).toEqual([400, 'validation_error', expect.stringContaining(field)]);
  });
});

describe.each(['/events/huggingface-inference', '/events/huggingface-billing'])('POST %s', (path) => {
  test('answers what each event costs by itself, in nano dollars, in the order asked', async () => {
    const requestIds = ['r-2', 'r-1', 'r-3', 'r-4', 'r-5', 'r-6', 'r-7', 'r-8', 'r-9', 'unknown', 'r-1'];
    const { requests } = await ask(path, { requestIds });
    expect(requests.map(({ requestId }: Wire) => requestId)).toEqual(requestIds);
    const costs = Object.fromEntries(requests.map(({ requestId, costNanoUsd }: Wire) => [requestId, costNanoUsd]));
    expect(costs).toEqual({
      // 20 thousand tokens: 10 × 0.003 + 10 × 0.001; each event begins at the bottom of the tiers.
      'r-2': '40000000',
      'r-1': '4500000',
      'r-3': '0.5',
      // Not of the price's models, in another currency, before the subscription, of no meter, negative, of nobody, unknown.
      'r-4': '0',
      'r-5': '0',
      'r-6': '0',
      'r-7': '0',
      'r-8': '0',
      'r-9': '0',
      unknown: '0',
    });
  });

  test('wants at least one id, unless there is no body at all', async () => {
    for (const body of [{}, { requestIds: [] }, { requestIds: [''] }, { requestIds: 'r-1' }]) {
      expect(await refused(path, body)).toEqual([400, 'validation_error', expect.stringContaining('requestIds')]);
    }
    expect((await api<Wire>('POST', path)).body).toEqual({ requests: [] });
  });
});

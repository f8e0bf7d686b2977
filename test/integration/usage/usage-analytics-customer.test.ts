import { beforeAll, describe, expect, test } from 'vitest';
import { clockedCustomer, created, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, at, january, type Wire } from './analytics.fixture.ts';

const { api } = await testPlatform();
const { ask, basicOffer, plan, send, usagePrice } = analytics(api);
const path = '/events/analytics';

let basic: Wire;
let calls: Wire;
beforeAll(async () => {
  ({ basic, calls } = await basicOffer());
});

describe('a parent customer', () => {
  test('has its children’s usage with its own when that is asked for, and nothing counts twice', async () => {
    const frozenTime = '2026-01-01T00:00:00Z';
    const parent = await clockedCustomer(api, { frozenTime });
    await subscribe(api, { customer_id: parent.customerId, plan_id: basic.id });
    const child = async (name: string) => {
      const body = { external_id: name, name, parent_customer_id: parent.customerId, test_clock_id: parent.clockId };
      return created<Wire>(api, '/customers', body);
    };
    const [folded, own] = [await child('folded'), await child('own')];
    const single = await plan();
    await usagePrice(calls, { entity_type: 'PLAN', entity_id: single.id, amount: '100' });
    await subscribe(api, { customer_id: own.id, plan_id: single.id });
    for (const externalId of [parent.externalId, folded.external_id, own.external_id]) {
      await send(externalId, [
        { event_name: 'calls', timestamp: at(4), properties: { n: '3' } },
        { event_name: 'storage', timestamp: at(4), properties: { gb: externalId === 'own' ? '7' : '5' } },
      ]);
    }
    const rows = async (fields: object) => {
      const answer = await ask(path, { external_customer_id: parent.externalId, ...january, ...fields });
      return answer.items.map((item: Wire) => [item.name, item.total_usage, item.subtotal]);
    };
    expect(await rows({})).toEqual([
      ['calls', '3', '3'],
      ['sms', '0', '0'],
      ['storage', '5', '0.075'],
    ]);
    // The maximum sees one set of events; the child with a line of its own for calls pays for its calls there.
    expect((await rows({ include_children: true })).sort()).toEqual([
      ['calls', '3', '300'],
      ['calls', '6', '6'],
      ['sms', '0', '0'],
      ['storage', '7', '0.105'],
    ]);
  });
});

describe('currencies', () => {
  test('never mix: totals are in that of the first subscription, other items are listed', async () => {
    const both = await plan();
    const owner = { entity_type: 'PLAN', entity_id: both.id };
    await usagePrice(calls, { ...owner, currency: 'eur', amount: '2' });
    await usagePrice(calls, { ...owner, currency: 'usd', amount: '3' });
    const customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    for (const currency of ['eur', 'usd']) {
      await subscribe(api, { customer_id: customer.customerId, plan_id: both.id, currency });
    }
    await send(customer.externalId, [{ event_name: 'calls', timestamp: at(4), properties: { n: '10' } }]);
    const answer = await ask(path, { external_customer_id: customer.externalId, ...january });
    expect(answer.items.map((item: Wire) => [item.currency, item.subtotal]).sort()).toEqual([
      ['eur', '20'],
      ['usd', '30'],
    ]);
    expect(answer).toMatchObject({ currency: 'eur', subtotal: '20', total_cost: '20' });
  });

  test('are unknown for a customer without a subscription, who has no items', async () => {
    const customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    expect(await ask(path, { external_customer_id: customer.externalId })).toEqual({
      subtotal: '0',
      total_discount: '0',
      total_cost: '0',
      currency: null,
      items: [],
      custom_analytics: [],
    });
  });
});

describe('windows', () => {
  test('are days of the customer’s zone', async () => {
    const zoned = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', timezone: 'Asia/Kolkata' });
    await subscribe(api, { customer_id: zoned.customerId, plan_id: basic.id });
    await send(zoned.externalId, [
      { event_name: 'calls', timestamp: at(3, '18:29:59'), properties: { n: '1' } },
      { event_name: 'calls', timestamp: at(3, '18:30:00'), properties: { n: '2' } },
    ]);
    const asked = { external_customer_id: zoned.externalId, ...january, window_size: 'DAY', feature_ids: [calls.id] };
    const [item] = (await ask(path, asked)).items;
    expect(item.points.map(({ timestamp, usage }: Wire) => [timestamp, usage])).toEqual([
      ['2026-01-02T18:30:00.000Z', '1'],
      ['2026-01-03T18:30:00.000Z', '2'],
    ]);
  });
});

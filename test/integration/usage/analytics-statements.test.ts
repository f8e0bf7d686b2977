import { expect, test, vi } from 'vitest';
import { clockedCustomer, created, subscribe, testPlatform } from '../../support/billing.ts';
import { analytics, january, type Wire } from './analytics.fixture.ts';

const { api, base } = await testPlatform();
const { ask, feature, plan, send } = analytics(api);

const everything = {
  ...january,
  window_size: 'DAY',
  group_by: ['source', 'properties.region'],
  expand: ['price', 'meter', 'feature', 'subscription_line_item', 'plan', 'source'],
  include_children: true,
};

/** A customer with usage of that many features; a plan may have a hundred prices a call. */
async function customerUsing(count: number): Promise<string> {
  const owner = await plan();
  const features: Wire[] = [];
  for (let index = 0; index < count; index += 1)
    features.push(await feature(`f${count}-${index}`, { type: 'SUM', field: 'n' }));
  const items = features.map(({ meter_id }) => ({
    entity_type: 'PLAN',
    entity_id: owner.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    amount: '0.5',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    meter_id,
    start_date: '2020-01-01T00:00:00Z',
  }));
  await created(api, '/prices/bulk', { items });
  const { customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  await subscribe(api, { customer_id: customerId, plan_id: owner.id });
  const events = features.flatMap(({ name }) =>
    ['eu', 'us'].map((region, index) => ({
      event_name: name,
      timestamp: `2026-01-0${index + 2}T00:30:00Z`,
      source: region,
      properties: { n: '2', region },
    })),
  );
  await send(externalId, events);
  return externalId;
}

/** The statements of the transaction that read usage; others may have used its connection before or after it. */
async function statementsOf(request: () => Promise<unknown>): Promise<number> {
  const client = await base.database.pool.connect();
  const prototype = Object.getPrototypeOf(client) as { query: (...args: unknown[]) => unknown };
  client.release();
  const byClient = new Map<unknown, string[]>();
  const original = prototype.query;
  const spy = vi.spyOn(prototype, 'query').mockImplementation(function (this: unknown, ...args: unknown[]) {
    const [asked] = args as [string | { text: string }];
    byClient.set(this, [...(byClient.get(this) ?? []), typeof asked === 'string' ? asked : asked.text]);
    return original.apply(this, args);
  });
  try {
    await request();
  } finally {
    spy.mockRestore();
  }
  for (const statements of byClient.values()) {
    const reads = statements.findIndex((text) => text.includes('width_bucket'));
    if (reads < 0) continue;
    const begins = statements.slice(0, reads).findLastIndex((text) => /^begin/i.test(text));
    const ends = statements.findIndex((text, index) => index > reads && /^commit/i.test(text));
    return ends - begins;
  }
  return 0;
}

test('a hundred features cost as many statements as one', { timeout: 120_000 }, async () => {
  const counts: number[] = [];
  for (const count of [1, 100]) {
    const external_customer_id = await customerUsing(count);
    const asked = { external_customer_id, ...everything };
    const { items } = await ask('/events/analytics', asked);
    expect(items).toHaveLength(2 * count);
    expect(items[0]).toMatchObject({ total_usage: '2', subtotal: '1', points: [{ usage: '2' }] });
    counts.push(await statementsOf(() => ask('/events/analytics', asked)));
  }
  const [one, hundred] = counts;
  expect(one).toBeGreaterThan(5);
  expect(hundred).toBe(one);
});

import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, invoicesOf, subscribe, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const start = '2026-03-15T00:00:00Z';
const perDay = { billing_model: 'PACKAGE', amount: '5', transform_quantity: { divide_by: 10, round: 'up' } };
const slabs = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 10, unit_amount: '1' },
    { up_to: null, unit_amount: '3' },
  ],
};
const flat = (amount: string) => ({ billing_model: 'FLAT_FEE', amount });

interface MeteredPrice {
  name: string;
  aggregation: Record<string, unknown>;
  price: Record<string, unknown>;
  resetUsage?: string;
  limit?: number;
}

/** A customer in Berlin on a clock at the middle of March with a monthly subscription to the given prices. */
async function subscribed(prices: readonly MeteredPrice[]) {
  const key = Math.random().toString(36).slice(2);
  const { id: planId } = await created(api, '/plans', { name: `Plan ${key}` });
  for (const { name, aggregation, price, resetUsage = 'BILLING_PERIOD', limit } of prices) {
    const meter = { name, event_name: `${name}-${key}`, aggregation, reset_usage: resetUsage };
    const feature = await created<Wire>(api, '/features', { name: `${name} ${key}`, type: 'metered', meter });
    await created(api, '/prices', {
      entity_type: 'PLAN',
      entity_id: planId,
      type: 'USAGE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      meter_id: feature.meter_id,
      display_name: name,
      start_date: '2020-01-01T00:00:00Z',
      ...price,
    });
    if (limit !== undefined) {
      const entitlement = { plan_id: planId, feature_id: feature.id, feature_type: 'metered', usage_limit: limit };
      await created(api, '/entitlements', entitlement);
    }
  }
  const customer = await clockedCustomer(api, {
    frozenTime: start,
    timezone: 'Europe/Berlin',
    card: sandboxCardNumber('succeeds'),
  });
  const subscription = await subscribe(api, { customer_id: customer.customerId, plan_id: planId });
  const send = (name: string, events: readonly [timestamp: string, properties: Record<string, unknown>][]) =>
    created(api, '/events/bulk', {
      events: events.map(([timestamp, properties]) => ({
        event_name: `${name}-${key}`,
        external_customer_id: customer.externalId,
        timestamp,
        properties,
      })),
    });
  return { ...customer, subscriptionId: subscription.id, send };
}

const lineOf = (invoice: Wire, name: string): Wire =>
  invoice.line_items.find((line: Wire) => line.display_name === name);

async function explanationOf(invoiceId: string, name: string): Promise<Wire> {
  const { body } = await api<Wire>('GET', `/invoices/${invoiceId}/explain`);
  return body.lines.find((line: Wire) => line.display_name === name);
}

test('buckets are priced one by one, in the local hours and days of the subscription', async () => {
  const { send, clockId, subscriptionId } = await subscribed([
    {
      name: 'Peak',
      aggregation: { type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'host' },
      price: slabs,
    },
    { name: 'Hours', aggregation: { type: 'SUM', field: 'n', bucket_size: 'HOUR' }, price: slabs, limit: 20 },
    { name: 'Days', aggregation: { type: 'SUM', field: 'n' }, price: { ...perDay, bucket_size: 'DAY' } },
    {
      name: 'Tokens',
      aggregation: { type: 'SUM', expression: 'tokens * 0.001 + calls * 2.0' },
      price: flat('1'),
    },
  ]);
  // In the night of March 29 Berlin goes from 01:59 to 03:00; the day has 23 hours.
  await send('Peak', [
    ['2026-03-29T00:05:00Z', { n: 4, host: 'x' }],
    ['2026-03-29T00:50:00Z', { n: '14', host: 'y' }],
    ['2026-03-29T00:55:00Z', { n: 12, host: 'y' }],
    ['2026-03-29T01:10:00Z', { n: 8, host: 'x' }],
    ['2026-03-29T05:00:00Z', { n: 3 }],
  ]);
  await send('Hours', [
    ['2026-03-29T00:05:00Z', { n: 4 }],
    ['2026-03-29T00:50:00Z', { n: 10 }],
    ['2026-03-29T01:10:00Z', { n: 8 }],
    ['2026-03-29T01:30:00Z', { n: 6 }],
    ['2026-03-29T05:00:00Z', { n: 3 }],
  ]);
  await send('Days', [
    ['2026-03-28T22:59:59.999999Z', { n: 3 }],
    ['2026-03-28T23:00:00Z', { n: 5 }],
    ['2026-03-29T21:59:59Z', { n: 7 }],
    ['2026-03-29T22:00:00Z', { n: 1 }],
  ]);
  await send('Tokens', [
    ['2026-03-20T00:00:00Z', { tokens: '1000', calls: 2 }],
    ['2026-03-20T00:00:00Z', { tokens: 'many', calls: 9 }],
  ]);

  await advanceTo(api, clockId, '2026-04-14T22:00:00Z');
  const { body: preview } = await api<Wire>('POST', '/invoices/preview', { subscription_id: subscriptionId });
  await advanceTo(api, clockId, '2026-04-15T03:00:00Z');
  const invoice: Wire = (await invoicesOf(api, subscriptionId)).find(({ line_items }) => line_items.length > 0);
  expect(invoice.invoice_status).toBe('FINALIZED');
  const billed = (of: Wire) =>
    Object.fromEntries(
      of.line_items.map((line: Wire) => [line.display_name, [Number(line.quantity), Number(line.amount)]]),
    );
  // 4 + (10 + 4 × 3) + 8 + 3; 20 of 14, 14 and 3 are included; packages of 1, 2 and 1 day; 1 + 4.
  expect(billed(invoice)).toEqual({ Peak: [29, 37], Hours: [11, 11], Days: [16, 20], Tokens: [5, 5] });
  expect(billed(preview)).toEqual(billed(invoice));
  expect(Number(lineOf(invoice, 'Hours').adjusted_entitlement_quantity)).toBe(20);

  const peak = await explanationOf(invoice.id, 'Peak');
  const [part] = peak.derivation.parts;
  expect(part.usage).toMatchObject({ quantity: '29', bucketing: { size: 'HOUR', timezone: 'Europe/Berlin' } });
  expect(part.buckets).toEqual([
    { start: '2026-03-29T00:00:00.000Z', group: 'x', value: '4', billable: '4', cost: '4' },
    { start: '2026-03-29T00:00:00.000Z', group: 'y', value: '14', billable: '14', cost: '22' },
    { start: '2026-03-29T01:00:00.000Z', group: 'x', value: '8', billable: '8', cost: '8' },
    { start: '2026-03-29T05:00:00.000Z', group: '', value: '3', billable: '3', cost: '3' },
  ]);
  expect(peak.steps.map((step: Wire) => step.sentence)).toContain(
    '4 buckets of HOUR in Europe/Berlin, each priced on its own from the start of the price, come to 37.00 usd for 29.',
  );
  const days = await explanationOf(invoice.id, 'Days');
  expect(days.derivation.parts[0].buckets.map(({ start: from, value }: Wire) => [from, value])).toEqual([
    ['2026-03-27T23:00:00.000Z', '3'],
    ['2026-03-28T23:00:00.000Z', '12'],
    ['2026-03-29T22:00:00.000Z', '1'],
  ]);

  // What arrives now is late: told by the buckets it changes, and not billed.
  await send('Peak', [['2026-03-29T01:20:00Z', { n: 10, host: 'x' }]]);
  const late = await explanationOf(invoice.id, 'Peak');
  expect(late.late_usage).toEqual({ event_count: 1, quantity: '2', voided_count: 0 });
  expect(Number(late.amount)).toBe(37);
});

test('many buckets are told by their values, and a running value is charged whole', async () => {
  const { send, clockId, subscriptionId } = await subscribed([
    { name: 'Minutes', aggregation: { type: 'MAX', field: 'n', bucket_size: 'MINUTE' }, price: flat('0.01') },
    { name: 'Seats', aggregation: { type: 'SUM', field: 'n' }, price: flat('1'), resetUsage: 'NEVER' },
  ]);
  const minute = (index: number) => new Date(Date.parse('2026-03-16T00:00:00Z') + index * 60_000).toISOString();
  for (const from of [0, 700, 1400]) {
    await send(
      'Minutes',
      Array.from({ length: 700 }, (_, index) => [minute(from + index), { n: (from + index) % 3 }]),
    );
  }
  await send('Seats', [
    ['2026-03-20T00:00:00Z', { n: 5 }],
    ['2026-04-20T00:00:00Z', { n: 2 }],
    ['2026-04-21T00:00:00Z', { n: '-1' }],
  ]);
  await advanceTo(api, clockId, '2026-05-15T03:00:00Z');
  const invoices: Wire[] = (await invoicesOf(api, subscriptionId)).filter(({ line_items }) => line_items.length > 0);
  expect(invoices.map((invoice) => Number(lineOf(invoice, 'Seats').quantity))).toEqual([5, 6]);
  const [first] = invoices;
  expect(lineOf(first, 'Minutes')).toMatchObject({ quantity: '2100', amount: '21' });
  const minutes = await explanationOf(first.id, 'Minutes');
  expect(minutes.derivation.parts[0]).toMatchObject({
    buckets: null,
    bucketCount: 2100,
    bucketValues: [
      { billable: '2', count: 700, cost: '0.02' },
      { billable: '1', count: 700, cost: '0.01' },
      { billable: '0', count: 700, cost: '0' },
    ],
  });
  expect(minutes.steps.map((step: Wire) => step.sentence)).toContain(
    'The greatest value, 2 in 700 buckets, costs 0.02 usd each.',
  );
});

test('a price takes buckets only of what adds up', async () => {
  const { id: planId } = await created(api, '/plans', { name: 'Refused' });
  const meter = await created(api, '/meters', {
    name: 'Count',
    event_name: 'count',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  });
  const answer = await api('POST', '/prices', {
    plan_id: planId,
    type: 'USAGE',
    ...flat('1'),
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    meter_id: meter.id,
    bucket_size: 'HOUR',
  });
  expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect(answer.body).toMatchObject({
    message: expect.stringContaining('bucket_size needs a meter of type SUM or MAX'),
  });
});

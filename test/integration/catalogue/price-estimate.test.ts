import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';
import { prices, quantitiesFor } from '../../unit/billing/arbitraries.ts';
import { fraction, oracleCost, oracleLineAmount, oracleUnitCost, plain } from '../../unit/billing/rating-oracle.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call, database, scope, otherTenant } = api;
const { createPlan, createPrice, createFeature } = catalogue(api);

const plan = await createPlan();
const calls = await createFeature();
const peak = await createFeature({
  meter: {
    name: 'Peak',
    event_name: 'load',
    aggregation: { type: 'MAX', field: 'n' },
    reset_usage: 'BILLING_PERIOD',
  },
});
const slabs = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  amount: undefined,
  tiers: [
    { up_to: 1000, unit_amount: '0.10' },
    { up_to: 10000, unit_amount: '0.05' },
    { up_to: null, unit_amount: '0.01' },
  ],
};
const perUse = { ...flatPrice, plan_id: plan.id, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: calls.meter_id };

async function estimate(body: object) {
  const answer = await call('POST', '/v1/prices/estimate', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

describe('a stored price', () => {
  test('tells cost, amount, unit cost and the walk through the tiers', async () => {
    const price = await createPrice(plan, { ...perUse, ...slabs });
    const answer = await estimate({ price_id: price.id, quantity: 15000 });
    expect(answer).toMatchObject({
      price_id: price.id,
      currency: 'usd',
      billing_model: 'TIERED',
      quantity: '15000',
      cost: '600',
      amount: '600',
      effective_unit_cost: '0.04',
    });
    const sentences = answer.steps.map((step: { sentence: string }) => step.sentence).join('\n');
    expect(sentences).toMatch(
      /1000 × 0\.10 = 100\.00[\s\S]*9000 × 0\.05 = 450\.00[\s\S]*5000 × 0\.01 = 50\.00[\s\S]*600\.00/,
    );
    expect(answer.derivation).toMatchObject({ version: 1, charge: 'usage', amount: '600.00' });
  });

  test('shows what rounding takes: the cost is exact, the amount a coin', async () => {
    const price = await createPrice(plan, { ...perUse, amount: '0.0000025' });
    expect(await estimate({ price_id: price.id, quantity: '1234567' })).toMatchObject({
      cost: '3.0864175',
      amount: '3.09',
      effective_unit_cost: '0.0000025',
    });
  });

  test('of a fixed line takes its minimum where no quantity is sent', async () => {
    const price = await createPrice(plan, { amount: '12.5', min_quantity: '4' });
    expect(await estimate({ price_id: price.id })).toMatchObject({ quantity: '4', cost: '50', amount: '50' });
    expect(await estimate({ price_id: price.id, quantity: '0' })).toMatchObject({ quantity: '0', amount: '0' });
  });

  test('that has ended can still be asked', async () => {
    const price = await createPrice(plan, { amount: '7' });
    await call('DELETE', `/v1/prices/${price.id}`);
    expect(await estimate({ price_id: price.id })).toMatchObject({ amount: '7' });
  });

  test('of somebody else is not there', async () => {
    const price = await createPrice(plan);
    const { apiKey } = await otherTenant();
    const answer = await call('POST', '/v1/prices/estimate', { body: { price_id: price.id, quantity: 1 }, apiKey });
    expect(answer.status).toBe(404);
    expect(answer.body.message).toContain(price.id);
  });
});

test('a price of a custom currency costs its amount times the rate that holds now', async () => {
  const unit = { name: 'Tokens', code: 'tok', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
  const { id } = (await call('POST', '/v1/prices/units', { body: unit })).body;
  const custom = { price_unit_type: 'CUSTOM', price_unit_config: { price_unit: 'tok', amount: '3' } };
  const price = await createPrice(plan, { amount: undefined, ...custom });
  const body = { price_id: price.id, quantity: '7' };
  expect(await estimate(body)).toMatchObject({
    currency: 'usd',
    cost: '0.42',
    amount: '0.42',
    effective_unit_cost: '0.06',
  });
  expect((await call('PUT', `/v1/prices/units/${id}`, { body: { conversion_rate: '0.0255' } })).status).toBe(200);
  expect(await estimate(body)).toMatchObject({ cost: '0.5355', amount: '0.54', effective_unit_cost: '0.0765' });
  const inline = { ...flatPrice, plan_id: plan.id, amount: undefined, ...custom };
  expect(await estimate({ price: inline, quantity: '7' })).toMatchObject({ price_id: null, cost: '0.5355' });
});

describe('usage instead of a quantity', () => {
  const usage = [
    { timestamp: '2026-01-05T10:00:00Z', value: '30' },
    { timestamp: '2026-01-06T10:00:00Z', value: '80' },
  ];

  test('is aggregated as the meter of the price does it', async () => {
    const count = { ...perUse, amount: '2' };
    const greatest = { ...count, meter_id: peak.meter_id };
    expect(await estimate({ price: count, usage })).toMatchObject({ price_id: null, quantity: '2', amount: '4' });
    expect(await estimate({ price: greatest, usage })).toMatchObject({ quantity: '80', amount: '160' });
  });

  test('may be windows that were measured', async () => {
    const windows = usage.map(({ timestamp, value }) => ({ start: timestamp, value }));
    expect(await estimate({ price: { ...perUse, amount: '2' }, windows })).toMatchObject({ quantity: '110' });
    expect(await estimate({ price: { ...perUse, meter_id: peak.meter_id }, windows })).toMatchObject({
      quantity: '80',
    });
  });

  test('equals what the events themselves are measured as', async () => {
    const events = usage.map(({ timestamp, value }, index) => ({
      event_id: `peak-${index}`,
      event_name: 'load',
      external_customer_id: 'estimated',
      timestamp,
      properties: { n: value },
    }));
    expect((await call('POST', '/v1/events/bulk', { body: { events } })).status).toBe(202);
    const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    const asked = { meter_id: peak.meter_id, external_customer_id: 'estimated', ...times };
    const { body } = await call('POST', '/v1/events/usage/meter', { body: asked });
    const period = { period_start: times.start_time, period_end: times.end_time };
    const given = await estimate({ price: { ...perUse, meter_id: peak.meter_id }, usage, ...period });
    expect(Number(given.quantity)).toBe(body.value);
    expect(given.derivation.parts[0]).toMatchObject({ periodStart: '2026-01-01T00:00:00.000Z' });
  });
});

describe('a bucketed price', () => {
  const hourly = { type: 'SUM', field: 'n', bucket_size: 'HOUR' };
  const definition = { name: 'Hourly', event_name: 'hour', reset_usage: 'BILLING_PERIOD', aggregation: hourly };
  const dear = {
    ...perUse,
    ...slabs,
    tiers: [
      { up_to: 10, unit_amount: '1' },
      { up_to: null, unit_amount: '3' },
    ],
  };
  const given = [
    { timestamp: '2026-01-05T10:00:00Z', value: '9' },
    { timestamp: '2026-01-05T10:59:00Z', value: '5' },
    { timestamp: '2026-01-05T11:00:00Z', value: '14' },
    { timestamp: '2026-01-05T13:30:00Z', value: '3' },
  ];

  test('begins its tiers anew in every bucket of its meter', async () => {
    const meter = await createFeature({ meter: definition });
    const price = { ...dear, meter_id: meter.meter_id };
    const answer = await estimate({ price, usage: given });
    expect(answer).toMatchObject({ quantity: '31', cost: '47', amount: '47' });
    expect(answer.derivation.parts[0].bucketCount).toBe(3);
    // As one quantity it is one bucket.
    expect(await estimate({ price, quantity: 31 })).toMatchObject({ cost: '73' });
  });

  test('may have buckets of its own, which begin at the local midnight', async () => {
    const meter = await createFeature({
      meter: { ...definition, aggregation: { type: 'SUM', field: 'n' } },
    });
    const price = { ...dear, meter_id: meter.meter_id, bucket_size: 'DAY' };
    expect(await estimate({ price, usage: given })).toMatchObject({ cost: '73' });
    expect(await estimate({ price, usage: given, timezone: 'Pacific/Auckland' })).toMatchObject({ cost: '53' });
  });
});

test('any price and quantity cost what the oracle says', async () => {
  const cases = fc.sample(
    prices.chain((terms) => fc.record({ terms: fc.constant(terms), quantity: quantitiesFor(terms) })),
    { numRuns: 60, seed: 7 },
  );
  for (const { terms, quantity } of cases) {
    const tiers = terms.tiers?.map((tier) => ({ ...tier, up_to: tier.up_to === null ? null : Number(tier.up_to) }));
    const price = { ...perUse, amount: undefined, ...terms, ...(tiers ? { tiers } : {}) };
    const expected = oracleCost(terms, quantity);
    const answer = await estimate({ price, quantity });
    expect(answer.cost).toBe(plain(expected));
    expect(answer.amount).toBe(plain(fraction(oracleLineAmount(terms, expected))));
    expect(answer.effective_unit_cost).toBe(oracleUnitCost(expected, quantity));
  }
});

describe('refusals', () => {
  const price = { ...perUse, amount: '2' };
  const at = '2026-01-05T10:00:00Z';
  // biome-ignore format: a table, a case a line
  test.each([
    ['neither price', { quantity: 1 }, 400, 'price_id'],
    ['both prices', { price_id: 'price_x', price, quantity: 1 }, 400, 'price_id'],
    ['an unknown price', { price_id: 'price_none', quantity: 1 }, 404, 'price_none'],
    ['usage of a usage price left out', { price }, 400, 'quantity'],
    ['a negative quantity', { price, quantity: '-1' }, 400, 'quantity'],
    ['a quantity and usage', { price, quantity: 1, usage: [{ timestamp: at, value: 1 }] }, 400, 'usage'],
    ['usage and windows', { price, usage: [{ timestamp: at, value: 1 }], windows: [{ start: at, value: 1 }] }, 400, 'windows'],
    ['no usage at all', { price, usage: [] }, 400, 'usage'],
    ['a value that is none', { price: { ...price, meter_id: peak.meter_id }, usage: [{ timestamp: at, value: 'much' }] }, 400, 'usage[0].value'],
    ['a time that is none', { price, usage: [{ timestamp: 'today', value: 1 }] }, 400, 'usage[0].timestamp'],
    ['half a period', { price, quantity: 1, period_start: at }, 400, 'period_end'],
    ['a period backwards', { price, quantity: 1, period_start: at, period_end: '2026-01-01T00:00:00Z' }, 400, 'period_end'],
    ['a value outside the period', { price, usage: [{ timestamp: at, value: 1 }], period_start: '2026-01-06T00:00:00Z', period_end: '2026-01-07T00:00:00Z' }, 400, 'usage[0].timestamp'],
    ['usage of a fixed price', { price: { ...flatPrice, plan_id: plan.id }, usage: [{ timestamp: at, value: 1 }] }, 400, 'usage'],
    ['an inline price that creation refuses', { price: { ...price, invoice_cadence: 'ADVANCE' }, quantity: 1 }, 400, 'price.invoice_cadence'],
    ['an inline price without an amount', { price: { ...price, amount: null }, quantity: 1 }, 400, 'price.amount'],
    ['an inline price of nobody', { price: { ...price, plan_id: 'plan_none' }, quantity: 1 }, 404, 'plan_none'],
    ['an inline price of a wrong shape', { price: { ...price, currency: 'us' }, quantity: 1 }, 400, 'price.currency'],
    ['an unknown time zone', { price, quantity: 1, timezone: 'Mars/Base' }, 400, 'timezone'],
  ] as [string, object, number, string][])('%s', async (_name, body, status, word) => {
    const answer = await call('POST', '/v1/prices/estimate', { body });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
  });
});

test('nothing is stored', async () => {
  const rows = () =>
    inSqlTransaction(database, scope, (sql) =>
      sql.rows(`select (select count(*) from price) as prices, (select count(*) from audit_entry) as audited,
        (select count(*) from outbox_event) as told, (select last_value from price_sequence) as sequence`),
    );
  const before = await rows();
  await estimate({ price: { ...perUse, lookup_key: 'some-day' }, quantity: 3 });
  expect(await rows()).toEqual(before);
});

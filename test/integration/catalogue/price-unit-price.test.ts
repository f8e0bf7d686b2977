import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';
import { priceUnits } from './price-unit.fixture.ts';

const api = await testApi();
const { call } = api;
const { createPlan, createPrice, createFeature } = catalogue(api);
const { createUnit, customOf, priceOf } = priceUnits(api);

describe('prices in custom currencies', () => {
  it('store their own amounts, the rate and the fiat amounts to 15 decimals', async () => {
    const unit = await createUnit({ conversion_rate: '0.0333' });
    const price = await createPrice(await createPlan(), customOf(unit.code.toUpperCase(), { amount: '0.7' }));
    expect(price).toMatchObject({
      price_unit_type: 'CUSTOM',
      price_unit: unit.code,
      price_unit_id: unit.id,
      price_unit_amount: '0.7',
      display_price_unit_amount: 'T0.7',
      price_unit_tiers: null,
      conversion_rate: '0.0333',
      currency: 'usd',
      amount: '0.02331',
      display_amount: '$0.02331',
      pricing_unit: unit,
    });
    expect(await priceOf(price.id)).toEqual(price);
  });

  it('come in tiers and packages', async () => {
    const unit = await createUnit({ base_currency: 'eur', conversion_rate: '0.5' });
    const plan = await createPlan();
    const tiers = [
      { up_to: 100, unit_amount: '2', flat_amount: '10' },
      { up_to: null, unit_amount: '1' },
    ];
    const custom = customOf(unit.code, { price_unit_tiers: tiers });
    const tiered = { currency: 'eur', billing_model: 'TIERED', tier_mode: 'SLAB', ...custom };
    expect(await createPrice(plan, tiered)).toMatchObject({
      amount: null,
      price_unit_amount: null,
      display_price_unit_amount: null,
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 100, unit_amount: '1', flat_amount: '5' },
        { up_to: null, unit_amount: '0.5', flat_amount: '0' },
      ],
      price_unit_tiers: [
        { up_to: 100, unit_amount: '2', flat_amount: '10' },
        { up_to: null, unit_amount: '1', flat_amount: '0' },
      ],
    });
    const sold = {
      currency: 'eur',
      billing_model: 'PACKAGE',
      transform_quantity: { divide_by: 10 },
      ...customOf(unit.code),
    };
    expect(await createPrice(plan, sold)).toMatchObject({ amount: '5', price_unit_amount: '10' });
  });

  it.each([
    ['an unknown unit', () => customOf('zz9'), 404, 'zz9', 'not_found'],
    ['no terms', () => ({ price_unit_type: 'CUSTOM' }), 400, 'price_unit_config'],
    ['the reverse', (code: string) => ({ ...customOf(code), price_unit_type: 'FIAT' }), 400, 'price_unit_config'],
    ['another currency', (code: string) => ({ ...customOf(code), currency: 'eur' }), 400, 'currency'],
    ['tiers given twice', (code: string) => ({ ...customOf(code), tiers: [{ unit_amount: '1' }] }), 400, 'tiers'],
    ['an amount given twice', (code: string) => ({ ...customOf(code), amount: '1' }), 400, 'price_unit_config.amount'],
    ['no amount', (code: string) => customOf(code, {}), 400, 'price_unit_config.amount'],
    ['a negative amount', (code: string) => customOf(code, { amount: '-1' }), 400, 'price_unit_config.amount'],
    [
      'no tiers',
      (code: string) => ({ ...customOf(code, { amount: '1' }), billing_model: 'TIERED' }),
      400,
      'price_unit_config.price_unit_tiers',
    ],
    [
      'a bad tier',
      (code: string) => ({ ...customOf(code, { price_unit_tiers: [{ unit_amount: '-1' }] }), billing_model: 'TIERED' }),
      400,
      'price_unit_config.price_unit_tiers[0].unit_amount',
    ],
    [
      'two open tiers',
      (code: string) => ({
        ...customOf(code, { price_unit_tiers: [{ unit_amount: '1' }, { unit_amount: '2' }] }),
        billing_model: 'TIERED',
      }),
      400,
      'price_unit_config.price_unit_tiers',
    ],
    [
      'a package without a size',
      (code: string) => ({ ...customOf(code), billing_model: 'PACKAGE' }),
      400,
      'transform_quantity',
    ],
    [
      'a percentage',
      (code: string) => ({ ...customOf(code), billing_model: 'PERCENTAGE', percentage_rate: '1' }),
      400,
      'price_unit_config',
    ],
  ])('refuse %s', async (_name, fields, status, word, code = 'validation_error') => {
    const unit = await createUnit();
    const plan = await createPlan();
    const body = { ...flatPrice, amount: undefined, plan_id: plan.id, ...fields(unit.code) };
    const answer = await call('POST', '/v1/prices', { body });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(answer.body.message).toContain(word);
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.prices).toEqual([]);
  });

  it('refuse an archived unit', async () => {
    const unit = await createUnit();
    await call('DELETE', `/v1/prices/units/${unit.id}`);
    const body = { ...flatPrice, plan_id: (await createPlan()).id, ...customOf(unit.code) };
    expect(await call('POST', '/v1/prices', { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('archived') },
    });
  });

  it('are superseded with amounts of their own kind only', async () => {
    const unit = await createUnit();
    const plan = await createPlan();
    const price = await createPrice(plan, customOf(unit.code));
    const { body: next } = await call('PUT', `/v1/prices/${price.id}`, { body: { price_unit_amount: '20' } });
    expect(next).toMatchObject({
      amount: 0.4,
      price_unit_amount: 20,
      conversion_rate: 0.02,
      price_unit: unit.code,
      parent_price_id: price.id,
      pricing_unit: { id: unit.id },
    });
    const tiers = [{ up_to: null, unit_amount: '3' }];
    const model = { billing_model: 'TIERED', price_unit_tiers: tiers };
    const { body: tiered } = await call('PUT', `/v1/prices/${next.id}`, { body: model });
    expect(tiered).toMatchObject({
      amount: null,
      price_unit_amount: null,
      tiers: [{ up_to: null, unit_amount: 0.06, flat_amount: 0 }],
      price_unit_tiers: [{ up_to: null, unit_amount: 3, flat_amount: 0 }],
    });
    const fiat = await createPrice(plan);
    for (const [id, body, word] of [
      [tiered.id, { amount: '1' }, 'amount'],
      [tiered.id, { tiers }, 'tiers'],
      [tiered.id, { billing_model: 'FLAT_FEE' }, 'price_unit_amount'],
      [fiat.id, { price_unit_amount: '1' }, 'price_unit_amount'],
      [fiat.id, { price_unit_tiers: tiers }, 'price_unit_tiers'],
    ] as const) {
      const answer = await call('PUT', `/v1/prices/${id}`, { body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(answer.body.message).toMatch(new RegExp(`^${word}`));
    }
  });

  it('are made by a plan update, repeated in it unchanged, and copied with the plan', async () => {
    const unit = await createUnit();
    const plan = await createPlan();
    const element = { ...flatPrice, ...customOf(unit.code) };
    const { status, body } = await call('PUT', `/v1/plans/${plan.id}`, { body: { prices: [element] } });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.prices[0]).toMatchObject({ amount: 0.2, price_unit_amount: 10, pricing_unit: { id: unit.id } });
    const shown = (await call('GET', `/v1/plans/${plan.id}`)).body.prices[0];
    expect(shown.pricing_unit).toEqual(unit);
    const repeated = await call('PUT', `/v1/plans/${plan.id}`, { body: { prices: [{ ...shown, description: 'd' }] } });
    expect(repeated.body.prices).toMatchObject([{ id: shown.id, description: 'd' }]);
    const named = { id: shown.id, price_unit_config: { price_unit: unit.code, amount: '10' } };
    expect((await call('PUT', `/v1/plans/${plan.id}`, { body: { prices: [named] } })).status).toBe(200);
    const changed = { id: shown.id, price_unit_config: { price_unit: unit.code, amount: '11' } };
    expect(await call('PUT', `/v1/plans/${plan.id}`, { body: { prices: [changed] } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('price_unit_amount') },
    });
    const clone = await call('POST', `/v1/plans/${plan.id}/clone`, { body: { name: 'c', lookup_key: `c-${plan.id}` } });
    expect(clone.body.prices).toMatchObject([{ amount: '0.2', price_unit_amount: '10', price_unit_id: unit.id }]);
  });

  it('show their unit where it is asked for, and its symbol always', async () => {
    const unit = await createUnit();
    const plan = await createPlan();
    const price = await createPrice(plan, customOf(unit.code));
    const searched = async (path: string, body: object) => (await call('POST', path, { body })).body.items[0];
    const bare = { display_price_unit_amount: 'T10', pricing_unit: null };
    expect(await searched('/v1/prices/search', { price_ids: [price.id] })).toMatchObject(bare);
    const expanded = await searched('/v1/prices/search', { price_ids: [price.id], expand: 'priceunit' });
    expect(expanded.pricing_unit).toEqual(unit);
    const plans = (expand: string) => searched('/v1/plans/search', { plan_ids: [plan.id], expand });
    expect((await plans('prices')).prices[0]).toMatchObject(bare);
    expect((await plans('prices.priceunit')).prices[0].pricing_unit).toEqual(unit);
    expect((await plans('prices,priceunit')).prices[0].pricing_unit).toEqual(unit);
  });
});

describe('POST /prices/estimate', () => {
  it('rates in the custom currency at the rate in force', async () => {
    const unit = await createUnit({ conversion_rate: '0.0333' });
    const feature = await createFeature();
    const usage = { type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: feature.meter_id };
    const price = await createPrice(await createPlan(), { ...usage, ...customOf(unit.code, { amount: '0.7' }) });
    const { status, body } = await call('POST', '/v1/prices/estimate', {
      body: { price_id: price.id, quantity: '99' },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ currency: 'usd', cost: '2.30769', amount: '2.31' });
    expect(body.steps.map((step: { kind: string }) => step.kind)).toEqual(['usage', 'price', 'conversion', 'rounding']);
  });
});

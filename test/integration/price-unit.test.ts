import { describe, expect, it } from 'vitest';
import { testApi } from '../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call, scope } = api;
const { createPlan, createPrice, createFeature, audited, emitted } = catalogue(api);
const { apiKey: strangersKey } = await api.otherTenant();

const token = { name: 'Token', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
const letters = 'abcdefghijklmnopqrstuvwxyz';
let count = 0;
/** A code no other test has; a digit in it keeps it from being a fiat currency. */
const nextCode = () => `${letters[Math.floor(count / 10)]}${count++ % 10}x`;

async function createUnit(fields: object = {}) {
  const { status, body } = await call('POST', '/v1/prices/units', { body: { ...token, code: nextCode(), ...fields } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const customOf = (code: string, fields: object = { amount: '10' }) => ({
  amount: undefined,
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: code, ...fields },
});
const priceOf = async (id: string) => (await call('GET', `/v1/prices/${id}`)).body;

describe('price units', () => {
  it('are created with every documented key, in lower case, and are audited but not announced', async () => {
    const unit = await createUnit({ code: 'ToK', base_currency: 'USD', conversion_rate: 0.02, metadata: { a: '1' } });
    expect(unit).toEqual({
      id: expect.stringMatching(/^price_unit_/),
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: scope.actor,
      updated_at: unit.created_at,
      updated_by: scope.actor,
      name: 'Token',
      code: 'tok',
      symbol: 'T',
      base_currency: 'usd',
      conversion_rate: '0.02',
      precision: 2,
      metadata: { a: '1' },
    });
    expect((await call('GET', `/v1/prices/units/${unit.id}`)).body).toEqual(unit);
    expect((await call('GET', '/v1/prices/units/code/TOK')).body).toEqual(unit);
    expect(await audited(unit.id)).toEqual(['created']);
    expect(await emitted(unit.id)).toEqual([]);
    expect(await createUnit({ base_currency: 'jpy' })).toMatchObject({ precision: 0 });
    expect(await createUnit({ precision: 8 })).toMatchObject({ precision: 8 });
  });

  it.each([
    ['a rate of 0', { conversion_rate: '0' }, 'conversion_rate'],
    ['a negative rate', { conversion_rate: '-1' }, 'conversion_rate'],
    ['a rate that 15 decimals cannot hold', { conversion_rate: '0.0000000000000001' }, 'conversion_rate'],
    ['no rate', { conversion_rate: undefined }, 'conversion_rate'],
    ['a code of two characters', { code: 'to' }, 'code'],
    ['a code of four characters', { code: 'toke' }, 'code'],
    ['a blank in the code', { code: 't k' }, 'code'],
    ['the code of a fiat currency', { code: 'EUR' }, 'code'],
    ['no code', { code: undefined }, 'code'],
    ['a base currency of two letters', { base_currency: 'us' }, 'base_currency'],
    ['a blank name', { name: ' ' }, 'name'],
    ['no symbol', { symbol: '' }, 'symbol'],
    ['a precision above 8', { precision: 9 }, 'precision'],
    ['metadata that is not text', { metadata: { a: 1 } }, 'metadata.a'],
  ])('refuse %s', async (_name, fields, word) => {
    const { status, body } = await call('POST', '/v1/prices/units', { body: { ...token, code: 'zzz', ...fields } });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_error' });
    expect(body.message).toContain(word);
  });

  it('hold their code among the published ones, whoever comes first', async () => {
    const create = (apiKey?: string) =>
      call('POST', '/v1/prices/units', { body: { ...token, code: 'rac' }, ...(apiKey ? { apiKey } : {}) });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const unit = answers.find(({ status }) => status === 201)!.body;
    expect(await create()).toMatchObject({ body: { code: 'already_exists', message: expect.stringContaining('rac') } });
    expect((await create(strangersKey)).status).toBe(201);
    await call('DELETE', `/v1/prices/units/${unit.id}`);
    expect((await create()).status).toBe(201);
  });

  it('are listed and searched; the offset is the one that was asked for', async () => {
    const first = await createUnit();
    const second = await createUnit();
    const ids = [first.id, second.id];
    const listed = await call('GET', `/v1/prices/units?price_unit_ids=${ids}&order=asc&limit=1&offset=1`);
    expect(listed.body).toMatchObject({ items: [second], pagination: { limit: 1, offset: 1, total: 2 } });
    const condition = { field: 'code', operator: 'eq', data_type: 'string', value: { string: first.code } };
    const found = await call('POST', '/v1/prices/units/search', {
      body: { price_unit_ids: ids, filters: [condition] },
    });
    expect(found.body.items).toEqual([first]);
    const theirs = await call('POST', '/v1/prices/units/search', {
      apiKey: strangersKey,
      body: { price_unit_ids: ids },
    });
    expect(theirs.body.items).toEqual([]);
  });

  it('change their name, metadata and rate in place', async () => {
    const unit = await createUnit();
    const change = { name: 'Credits', metadata: { b: '2' }, conversion_rate: '0.5', code: 'abc', base_currency: 'eur' };
    const { status, body } = await call('PUT', `/v1/prices/units/${unit.id}`, { body: change });
    expect(status).toBe(200);
    const { code, base_currency } = unit;
    expect(body).toMatchObject({ name: 'Credits', metadata: { b: '2' }, conversion_rate: '0.5', code, base_currency });
    expect(await audited(unit.id)).toEqual(['created', 'updated']);
    for (const bad of [{ conversion_rate: '0' }, { name: ' ' }]) {
      expect((await call('PUT', `/v1/prices/units/${unit.id}`, { body: bad })).status).toBe(400);
    }
  });

  it('are archived, never refused, and stay readable by id', async () => {
    const unit = await createUnit();
    const price = await createPrice(await createPlan(), customOf(unit.code));
    for (const _ of [1, 2]) {
      const { status, body } = await call('DELETE', `/v1/prices/units/${unit.id}`);
      expect(status).toBe(200);
      expect(body.message).toContain(unit.id);
    }
    expect((await call('GET', `/v1/prices/units/${unit.id}`)).body.status).toBe('archived');
    expect((await call('GET', `/v1/prices/units/code/${unit.code}`)).status).toBe(404);
    expect(await call('PUT', `/v1/prices/units/${unit.id}`, { body: { name: 'x' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect(await audited(unit.id)).toEqual(['created', 'archived']);
    expect(await priceOf(price.id)).toEqual({
      ...price,
      pricing_unit: expect.objectContaining({ status: 'archived' }),
    });
    const superseded = await call('PUT', `/v1/prices/${price.id}`, { body: { price_unit_amount: '20' } });
    expect(superseded).toMatchObject({ status: 200, body: { amount: 0.4, price_unit_amount: 20 } });
  });

  it('of others are missing', async () => {
    const unit = await createUnit();
    for (const [method, path, body] of [
      ['GET', `/${unit.id}`, undefined],
      ['GET', `/code/${unit.code}`, undefined],
      ['PUT', `/${unit.id}`, {}],
      ['DELETE', `/${unit.id}`, undefined],
    ] as const) {
      const answer = await call(method, `/v1/prices/units${path}`, { apiKey: strangersKey, body });
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});

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

describe('a new rate', () => {
  it('rewrites the fiat amounts of prices that have not ended, and of no others', async () => {
    const unit = await createUnit();
    const other = await createUnit();
    const plan = await createPlan();
    const open = await createPrice(plan, customOf(unit.code));
    const tiers = [{ up_to: null, unit_amount: '4', flat_amount: '1' }];
    const tiered = await createPrice(plan, {
      billing_model: 'TIERED',
      ...customOf(unit.code, { price_unit_tiers: tiers }),
    });
    const ended = await createPrice(plan, customOf(unit.code));
    await call('DELETE', `/v1/prices/${ended.id}`);
    const stranger = await createPrice(plan, customOf(other.code));
    const endedBefore = await priceOf(ended.id);
    const strangerBefore = await priceOf(stranger.id);

    expect((await call('PUT', `/v1/prices/units/${unit.id}`, { body: { conversion_rate: '0.3' } })).status).toBe(200);
    const after = { amount: '3', display_amount: '$3', conversion_rate: '0.3', price_unit_amount: '10' };
    expect(await priceOf(open.id)).toMatchObject({ ...after, sequence: open.sequence });
    expect(await priceOf(tiered.id)).toMatchObject({
      amount: null,
      tiers: [{ up_to: null, unit_amount: '1.2', flat_amount: '0.3' }],
      price_unit_tiers: [{ unit_amount: '4', flat_amount: '1' }],
    });
    const { pricing_unit, ...kept } = endedBefore;
    expect(await priceOf(ended.id)).toEqual({
      ...kept,
      pricing_unit: { ...pricing_unit, conversion_rate: '0.3', updated_at: expect.any(String) },
    });
    expect(await priceOf(stranger.id)).toEqual(strangerBefore);
    expect(await audited(open.id)).toEqual(['created', 'converted']);
    expect(await audited(ended.id)).toEqual(['created', 'ended']);
  });

  it('misses no price that is made, superseded or copied meanwhile', async () => {
    const unit = await createUnit();
    const plan = await createPlan();
    const price = await createPrice(plan, customOf(unit.code));
    await createPrice(plan, customOf(unit.code));
    const body = { ...flatPrice, plan_id: plan.id, ...customOf(unit.code) };
    const answers = await Promise.all([
      call('PUT', `/v1/prices/units/${unit.id}`, { body: { conversion_rate: '7' } }),
      call('POST', '/v1/prices', { body }),
      call('PUT', `/v1/prices/${price.id}`, { body: { price_unit_amount: '5' } }),
      call('POST', `/v1/plans/${plan.id}/clone`, { body: { name: 'c', lookup_key: `race-${plan.id}` } }),
      call('POST', '/v1/prices', { body }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 201, 201]);
    const condition = { field: 'price_unit_id', operator: 'eq', data_type: 'string', value: { string: unit.id } };
    const { items } = (await call('POST', '/v1/prices/search', { body: { filters: [condition] } })).body;
    expect(items.length).toBeGreaterThanOrEqual(6);
    for (const { amount, conversion_rate, price_unit_amount } of items) {
      expect({ amount, conversion_rate }).toEqual({
        amount: String(7 * Number(price_unit_amount)),
        conversion_rate: '7',
      });
    }
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

import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';
import { priceUnits, token } from './price-unit.fixture.ts';

const api = await testApi();
const { call, scope } = api;
const { createPlan, createPrice, audited, emitted } = catalogue(api);
const { createUnit, customOf, priceOf } = priceUnits(api);
const { apiKey: strangersKey } = await api.otherTenant();

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
    const change = { name: 'Credits', metadata: { b: '2' }, conversion_rate: '0.5' };
    const { status, body } = await call('PUT', `/v1/prices/units/${unit.id}`, { body: change });
    expect(status).toBe(200);
    const { code, base_currency } = unit;
    expect(body).toMatchObject({ name: 'Credits', metadata: { b: '2' }, conversion_rate: '0.5', code, base_currency });
    expect(await audited(unit.id)).toEqual(['created', 'updated']);
    for (const bad of [{ conversion_rate: '0' }, { name: ' ' }, { code: 'abc' }, { base_currency: 'eur' }]) {
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

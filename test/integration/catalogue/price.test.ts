import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { findAttachablePrices } from '../../../services/catalogue/price/price.ts';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call, database, scope } = api;
const { createPlan, createPrice, createFeature } = catalogue(api);

describe('POST /prices', () => {
  it('answers every documented key, decimals as strings and the currency in lower case', async () => {
    const plan = await createPlan({ name: 'Starter' });
    const body = await createPrice(plan, {
      amount: 10.5,
      currency: 'EUR',
      trial_period: 7,
      min_quantity: 2,
      metadata: { a: '1' },
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^price_/),
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: scope.actor,
      updated_at: body.created_at,
      updated_by: scope.actor,
      entity_type: 'PLAN',
      entity_id: plan.id,
      plan_id: plan.id,
      parent_price_id: null,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_cadence: 'RECURRING',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      invoice_cadence: 'ADVANCE',
      currency: 'eur',
      amount: '10.5',
      display_amount: '€10.5',
      tier_mode: null,
      tiers: null,
      transform_quantity: null,
      percentage_rate: null,
      price_unit_type: 'FIAT',
      price_unit: null,
      price_unit_id: null,
      price_unit_amount: null,
      display_price_unit_amount: null,
      price_unit_tiers: null,
      conversion_rate: null,
      meter_id: null,
      filter_values: null,
      bucket_size: null,
      min_quantity: '2',
      trial_period: 7,
      trial_period_days: 7,
      group_id: null,
      start_date: expect.any(String),
      end_date: null,
      display_name: 'Starter',
      description: null,
      lookup_key: null,
      sequence: expect.any(Number),
      metadata: { a: '1' },
      meter: null,
      plan: null,
      addon: null,
      group: null,
      pricing_unit: null,
      feature: null,
    });
    expect((await call('GET', `/v1/prices/${body.id}`)).body).toEqual(body);
  });

  it('keeps the digits of a JSON number and rounds to 15 decimals half away from zero', async () => {
    const plan = await createPlan();
    const payload = JSON.stringify({ ...flatPrice, plan_id: plan.id }).replace(
      '"amount":"1"',
      '"amount":12345678901234567890.1234567890123455',
    );
    const headers = { 'x-api-key': api.apiKey, 'content-type': 'application/json' };
    const response = await api.app.inject({ method: 'POST', url: '/v1/prices', headers, payload });
    expect(response.json().amount).toBe('12345678901234567890.123456789012346');
  });

  it('takes tiers in any order, VOLUME unless it says otherwise', async () => {
    const plan = await createPlan();
    const tiers = [
      { up_to: null, unit_amount: '0.5' },
      { up_to: 10, unit_amount: 1, flat_amount: '2' },
    ];
    const volume = await createPrice(plan, { billing_model: 'TIERED', amount: null, tiers });
    expect(volume).toMatchObject({
      amount: null,
      display_amount: null,
      tier_mode: 'VOLUME',
      tiers: [
        { up_to: null, unit_amount: '0.5', flat_amount: '0' },
        { up_to: 10, unit_amount: '1', flat_amount: '2' },
      ],
    });
    expect(await createPrice(plan, { billing_model: 'TIERED', tiers, tier_mode: 'SLAB' })).toMatchObject({
      tier_mode: 'SLAB',
    });
  });

  it('sells packages, rounded up unless it says otherwise, and percentages', async () => {
    const plan = await createPlan();
    expect(await createPrice(plan, { billing_model: 'PACKAGE', transform_quantity: { divide_by: 100 } })).toMatchObject(
      {
        transform_quantity: { divide_by: 100, round: 'up' },
      },
    );
    expect(
      await createPrice(plan, { billing_model: 'PERCENTAGE', amount: null, percentage_rate: '2.5' }),
    ).toMatchObject({
      percentage_rate: '2.5',
      amount: null,
    });
  });

  it('shows the meter of a usage price and takes its name', async () => {
    const plan = await createPlan();
    const feature = await createFeature();
    const usage = {
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      meter_id: feature.meter_id,
      filter_values: { region: ['eu'] },
    };
    expect(await createPrice(plan, usage)).toMatchObject({
      meter: { id: feature.meter_id, event_name: 'call' },
      display_name: 'Calls',
      filter_values: { region: ['eu'] },
    });
  });

  it('reads both ways of saying one-time as the same', async () => {
    const plan = await createPlan();
    const oneTime = { billing_cadence: 'ONETIME', billing_period: 'ONETIME' };
    expect(await createPrice(plan, { billing_cadence: 'ONETIME' })).toMatchObject(oneTime);
    expect(await createPrice(plan, { billing_period: 'ONETIME' })).toMatchObject(oneTime);
  });

  it('ignores a meter on a FIXED price', async () => {
    expect(await createPrice(await createPlan(), { meter_id: 'meter_none' })).toMatchObject({ meter_id: null });
  });
});

describe('POST /prices/bulk', () => {
  it('stores all or nothing and names the bad item', async () => {
    const plan = await createPlan();
    const good = { ...flatPrice, plan_id: plan.id };
    const bulk = (items: object[]) => call('POST', '/v1/prices/bulk', { body: { items } });
    const refused = await bulk([good, { ...good, invoice_cadence: 'ARREAR', type: 'USAGE', meter_id: 'meter_none' }]);
    expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(refused.body.message).toContain('items[1]');
    const taken = await bulk([
      { ...good, lookup_key: 'twice' },
      { ...good, lookup_key: 'twice' },
    ]);
    expect(taken).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    expect(taken.body.message).toMatch(/^items\[1\]: lookup_key twice/);
    await createPrice(await createPlan(), { lookup_key: 'held' });
    const many = await bulk([
      { ...good, plan_id: 'plan_none' },
      good,
      { ...good, group_id: 'group_none' },
      { ...good, lookup_key: 'held' },
      { ...good, min_quantity: 1, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: 'meter_none' },
    ]);
    expect(many).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(many.body.message.split('; items').map((part: string) => part.replace('items', '').slice(0, 3))).toEqual([
      '[0]',
      '[2]',
      '[3]',
      '[4]',
    ]);
    expect(Object.keys(many.body.details.fields)).toEqual([
      'items[0].entity_id',
      'items[2].group_id',
      'items[3].lookup_key',
      'items[4].min_quantity',
    ]);
    const shapes = await bulk([{ ...good, currency: 'x' }, good, { ...good, amount: 'ten', type: 'SOMETIMES' }]);
    expect(shapes).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(shapes.body.message).toMatch(/^items\[0\]\.currency .*; items\[2\]\.(amount|type)\b/);
    const both = await bulk([{ ...good, currency: 'x' }, good, { ...good, group_id: 'group_none' }]);
    expect(both).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(both.body.message).toMatch(/^items\[0\]\.currency .*; items\[2\]/);
    expect(Object.keys(both.body.details.fields)).toEqual(['items[0].currency', 'items[2].group_id']);
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.prices).toEqual([]);

    const { status, body } = await bulk([good, { ...good, amount: '2' }]);
    expect(status).toBe(201);
    expect(body.items).toMatchObject([{ amount: '1' }, { amount: '2' }]);
    expect((await bulk([])).status).toBe(400);
    expect((await bulk(Array.from({ length: 101 }, () => good))).status).toBe(400);
  });
});

describe('finding prices', () => {
  it('hides ended prices from lists unless they are asked for, and never from reads', async () => {
    const plan = await createPlan();
    const open = await createPrice(plan);
    const ended = await createPrice(plan);
    await call('DELETE', `/v1/prices/${ended.id}`);
    const ids = async (body: object) =>
      (
        await call('POST', '/v1/prices/search', { body: { plan_ids: [plan.id], order: 'asc', ...body } })
      ).body.items.map((price: { id: string }) => price.id);
    expect(await ids({})).toEqual([open.id]);
    expect(await ids({ allow_expired_prices: true })).toEqual([open.id, ended.id]);
    const listed = await call('GET', `/v1/prices?plan_ids=${plan.id}&allow_expired_prices=1&limit=1&expand=plan`);
    expect(listed.body).toMatchObject({
      items: [{ id: ended.id, plan: { id: plan.id } }],
      pagination: { total: 2, limit: 1, offset: 1 },
    });
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.prices).toHaveLength(2);
  });

  it('finds a live price by its lookup key', async () => {
    const plan = await createPlan();
    const price = await createPrice(plan, { lookup_key: 'find/me' });
    const lookup = () => call('GET', '/v1/prices/lookup/find%2Fme');
    expect((await lookup()).body.id).toBe(price.id);
    const taken = await call('POST', '/v1/prices', { body: { ...flatPrice, plan_id: plan.id, lookup_key: 'find/me' } });
    expect(taken).toMatchObject({
      status: 409,
      body: { code: 'already_exists', message: expect.stringContaining('find/me') },
    });
    await call('DELETE', `/v1/prices/${price.id}`);
    expect((await lookup()).status).toBe(404);
    expect((await createPrice(plan, { lookup_key: 'find/me' })).lookup_key).toBe('find/me');
  });

  it('offers a subscription the prices of the plan in its currency that have not ended, in order', async () => {
    const plan = await createPlan();
    const first = await createPrice(plan);
    await createPrice(plan, { currency: 'eur' });
    const ending = await createPrice(plan, { start_date: '2026-01-01T00:00:00Z', end_date: '2026-06-01T00:00:00Z' });
    const attachable = (at: string) =>
      inTransaction(database, scope, async (tx) =>
        (await findAttachablePrices(tx, { planId: plan.id, currency: 'usd', at })).map((price) => price.id),
      );
    expect(await attachable('2026-05-31T23:59:59.999Z')).toEqual([first.id, ending.id]);
    expect(await attachable('2026-06-01T00:00:00.000Z')).toEqual([first.id]);
  });
});

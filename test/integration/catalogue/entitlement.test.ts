import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue } from './catalogue.fixture.ts';

const api = await testApi();
const { call, scope } = api;
const { createPlan, createFeature, createEntitlement, audited, emitted } = catalogue(api);

describe('POST /entitlements', () => {
  it('grants an allowance, with every documented key', async () => {
    const plan = await createPlan();
    const feature = await createFeature();
    const body = await createEntitlement(plan, feature, {
      usage_limit: 1000,
      usage_reset_period: 'MONTHLY',
      is_soft_limit: true,
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^ent_/),
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
      feature_id: feature.id,
      feature,
      feature_type: 'metered',
      is_enabled: true,
      is_soft_limit: true,
      usage_limit: 1000,
      usage_reset_period: 'MONTHLY',
      static_value: null,
      config_value: null,
      aggregation_mode: 'additive',
      parent_entitlement_id: null,
      display_order: null,
      start_date: null,
      end_date: null,
      grant_allocation_behavior: null,
      grant_duration_unit: null,
      grant_duration_value: null,
      grant_measure: null,
      grant_quota: null,
      addon: null,
      plan: { ...plan, prices: null, entitlements: null, credit_grants: null },
    });
    expect((await call('GET', `/v1/entitlements/${body.id}`)).body).toEqual(body);
    expect(await emitted(body.id)).toEqual([
      {
        event_type: 'entitlement.created',
        entitlement: {
          id: body.id,
          entity_type: 'PLAN',
          entity_id: plan.id,
          feature_id: feature.id,
          feature_type: 'metered',
          is_enabled: true,
          usage_limit: 1000,
          usage_reset_period: 'MONTHLY',
          is_soft_limit: true,
          static_value: null,
        },
      },
    ]);
  });

  it('knows limits of zero and none', async () => {
    const plan = await createPlan();
    expect(await createEntitlement(plan, await createFeature(), { usage_limit: 0 })).toMatchObject({ usage_limit: 0 });
    expect(await createEntitlement(plan, await createFeature(), { usage_limit: null })).toMatchObject({
      usage_limit: null,
    });
  });

  it('grants the other types', async () => {
    const plan = await createPlan();
    expect(await createEntitlement(plan, await createFeature({ type: 'boolean' }))).toMatchObject({
      is_enabled: false,
    });
    expect(
      await createEntitlement(plan, await createFeature({ type: 'static' }), { static_value: 'gold' }),
    ).toMatchObject({ is_enabled: true, static_value: 'gold' });
    const config = { config_value: { sso: { provider: 'x' }, seats: 5 } };
    expect(await createEntitlement(plan, await createFeature({ type: 'config' }), config)).toMatchObject({
      is_enabled: true,
      ...config,
    });
  });

  it('refuses a second grant of a feature until the first is archived', async () => {
    const plan = await createPlan();
    const feature = await createFeature();
    const first = await createEntitlement(plan, feature);
    const body = { entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.id, feature_type: 'metered' };
    expect(await call('POST', '/v1/entitlements', { body })).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    });
    expect((await call('DELETE', `/v1/entitlements/${first.id}`)).status).toBe(200);
    expect((await call('DELETE', `/v1/entitlements/${first.id}`)).status).toBe(200);
    expect((await call('POST', '/v1/entitlements', { body })).status).toBe(201);
    expect(await audited(first.id)).toEqual(['created', 'deleted']);
    expect((await emitted(first.id)).map((event) => event.event_type)).toEqual([
      'entitlement.created',
      'entitlement.deleted',
    ]);
  });
});

it('creates in bulk all or nothing; an unknown feature is 400', async () => {
  const plan = await createPlan();
  const item = async () => ({
    plan_id: plan.id,
    feature_id: (await createFeature({ type: 'boolean' })).id,
    feature_type: 'boolean',
  });
  const good = await item();
  const refused = await call('POST', '/v1/entitlements/bulk', {
    body: { items: [good, { ...good, feature_id: 'feat_none' }] },
  });
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'validation_error', message: expect.stringContaining('items[1]') },
  });
  expect((await call('GET', `/v1/plans/${plan.id}/entitlements`)).body.items).toEqual([]);
  const created = await call('POST', '/v1/entitlements/bulk', { body: { items: [good, await item()] } });
  expect(created.status).toBe(201);
  expect(created.body.items).toHaveLength(2);
  expect((await call('POST', '/v1/entitlements/bulk', { body: { items: [] } })).status).toBe(400);
});

it('names every bad element of a bulk request in one refusal', async () => {
  const plan = await createPlan();
  const feature = await createFeature({ type: 'boolean' });
  const good = { plan_id: plan.id, feature_id: feature.id, feature_type: 'boolean' };
  const bulk = (items: object[]) => call('POST', '/v1/entitlements/bulk', { body: { items } });
  const refused = await bulk([
    good,
    { ...good, feature_id: 'feat_none' },
    { ...good, plan_id: 'plan_none' },
    good,
    { ...good, feature_type: 'static', static_value: 'x' },
    { ...good, is_enabled: 'perhaps' },
  ]);
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  for (const element of [1, 2, 3, 4, 5]) expect(refused.body.message).toContain(`items[${element}]`);
  expect(refused.body.message).not.toContain('items[0]');
  expect((await call('GET', `/v1/plans/${plan.id}/entitlements`)).body.items).toEqual([]);
  expect((await bulk([good])).status).toBe(201);
  expect(await bulk([good])).toMatchObject({ status: 409, body: { code: 'already_exists' } });
});

describe('PUT /entitlements/{id}', () => {
  it('changes what is sent; a limit of 0 or null is unlimited', async () => {
    const entitlement = await createEntitlement(await createPlan(), await createFeature(), {
      usage_limit: 5,
      usage_reset_period: 'DAILY',
    });
    const put = async (body: object) => (await call('PUT', `/v1/entitlements/${entitlement.id}`, { body })).body;
    expect(await put({ usage_limit: 9 })).toMatchObject({
      usage_limit: 9,
      usage_reset_period: 'DAILY',
      is_enabled: true,
    });
    expect(await put({ usage_limit: 0 })).toMatchObject({ usage_limit: null });
    expect(await put({ usage_limit: 7, is_enabled: false })).toMatchObject({ usage_limit: 7, is_enabled: false });
    expect(await put({ usage_limit: null, usage_reset_period: 'NEVER' })).toMatchObject({
      usage_limit: null,
      usage_reset_period: 'NEVER',
    });
    expect((await emitted(entitlement.id)).filter((event) => event.event_type === 'entitlement.updated')).toHaveLength(
      4,
    );
  });

  it('refuses what does not fit, and an archived entitlement', async () => {
    const entitlement = await createEntitlement(await createPlan(), await createFeature({ type: 'static' }), {
      static_value: 'a',
    });
    const put = (body: object) => call('PUT', `/v1/entitlements/${entitlement.id}`, { body });
    expect(await put({ static_value: ' ' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('static_value') },
    });
    expect(await put({ config_value: { a: 1 } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('config_value') },
    });
    expect(await put({ grant_quota: '5' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('grant_measure') },
    });
    expect((await put({ static_value: 'b' })).body.static_value).toBe('b');
    await call('DELETE', `/v1/entitlements/${entitlement.id}`);
    expect(await put({ static_value: 'c' })).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  });
});

it('finds entitlements by their own filters and expands them', async () => {
  const plan = await createPlan();
  const on = await createEntitlement(plan, await createFeature({ type: 'boolean' }), { is_enabled: true });
  const off = await createEntitlement(plan, await createFeature({ type: 'boolean' }), { is_enabled: false });
  const search = async (body: object) =>
    (await call('POST', '/v1/entitlements/search', { body: { plan_ids: [plan.id], order: 'asc', ...body } })).body
      .items;
  expect(await search({})).toMatchObject([{ id: on.id, feature: null, plan: null }, { id: off.id }]);
  expect(await search({ is_enabled: false })).toMatchObject([{ id: off.id }]);
  expect(
    await search({ filters: [{ field: 'is_enabled', operator: 'eq', data_type: 'string', value: { boolean: true } }] }),
  ).toMatchObject([{ id: on.id }]);
  expect(await search({ has_grant_config: true })).toEqual([]);
  expect(await search({ expand: 'features,plans', feature_ids: [on.feature_id] })).toMatchObject([
    { feature: { id: on.feature_id }, plan: { id: plan.id } },
  ]);
  expect((await call('GET', `/v1/entitlements?plan_ids=${plan.id}&is_enabled=true`)).body.items).toMatchObject([
    { id: on.id },
  ]);
});

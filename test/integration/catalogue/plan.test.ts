import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';
import { catalogue } from './catalogue.fixture.ts';

// A subscription is put into its table without the life that goes with it.
const api = await testApi({}, { breaks: ['I11', 'I14', 'I15', 'I18'] });
const { call, database, scope } = api;
const { createPlan, createPrice, createFeature, createEntitlement, audited } = catalogue(api);

describe('POST /plans', () => {
  it('creates a plan with every documented key, null where empty', async () => {
    const { status, body } = await call('POST', '/v1/plans', { body: { name: 'Pro', metadata: { team: 'growth' } } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^plan_/),
      auto_invoice_threshold: null,
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: scope.actor,
      updated_at: body.created_at,
      updated_by: scope.actor,
      name: 'Pro',
      description: null,
      lookup_key: null,
      display_order: null,
      metadata: { team: 'growth' },
      prices: [],
      entitlements: [],
      credit_grants: [],
    });
    expect((await call('GET', `/v1/plans/${body.id}`)).body).toEqual(body);
    expect(await audited(body.id)).toEqual(['created']);
  });

  it('refuses a blank name and a taken lookup key, and frees the key when the plan is archived', async () => {
    expect((await call('POST', '/v1/plans', { body: { name: '  ' } })).body).toMatchObject({
      code: 'validation_error',
      message: 'name must not be blank',
    });
    const first = await createPlan({ lookup_key: 'gold' });
    const second = await call('POST', '/v1/plans', { body: { name: 'B', lookup_key: 'gold' } });
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({ code: 'already_exists', details: { fields: { lookup_key: 'taken' } } });
    expect(second.body.message).toContain('gold');
    await call('DELETE', `/v1/plans/${first.id}`);
    expect((await call('POST', '/v1/plans', { body: { name: 'B', lookup_key: 'gold' } })).status).toBe(201);
  });
});

describe('PUT /plans/{id}', () => {
  it('changes what is sent, clears metadata with {} and leaves the rest', async () => {
    const plan = await createPlan({ description: 'old', display_order: 3, metadata: { a: '1' } });
    const { status, body } = await call('PUT', `/v1/plans/${plan.id}`, { body: { description: 'new', metadata: {} } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: plan.name, description: 'new', display_order: 3, metadata: {} });
  });

  it('answers amounts as JSON numbers, exactly', async () => {
    const plan = await createPlan();
    await createPrice(plan, { amount: '0.123456789012345' });
    const response = await api.app.inject({
      method: 'PUT',
      url: `/v1/plans/${plan.id}`,
      headers: { 'x-api-key': api.apiKey },
      payload: {},
    });
    expect(response.body).toContain('"amount":0.123456789012345,');
    expect(response.body).toContain('"display_amount":"$0.123456789012345"');
  });

  it('adds and updates elements and keeps what the arrays do not mention', async () => {
    const plan = await createPlan();
    const kept = await createPrice(plan, { amount: '1' });
    const changed = await createPrice(plan, { amount: '2' });
    const feature = await createFeature({ type: 'boolean' });
    const added = {
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      currency: 'EUR',
      amount: 7,
    };
    const { status, body } = await call('PUT', `/v1/plans/${plan.id}`, {
      body: {
        prices: [{ ...changed, description: 'renamed' }, added],
        entitlements: [{ feature_id: feature.id, feature_type: 'boolean', is_enabled: true }],
      },
    });
    expect(status).toBe(200);
    expect(body.prices.map((price: { id: string }) => price.id).slice(0, 2)).toEqual([kept.id, changed.id]);
    expect(body.prices).toMatchObject([
      { amount: 1 },
      { amount: 2, description: 'renamed' },
      { amount: 7, currency: 'eur', plan_id: plan.id },
    ]);
    expect(body.entitlements).toMatchObject([
      { feature_id: feature.id, is_enabled: true, feature: { id: feature.id } },
    ]);
  });

  it('takes back what it answered, unchanged', async () => {
    const plan = await createPlan();
    const feature = await createFeature();
    const tiers = [
      { up_to: 10, unit_amount: '1', flat_amount: '0.5' },
      { up_to: null, unit_amount: '0.1' },
    ];
    const usage = {
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      meter_id: feature.meter_id,
      billing_model: 'TIERED',
      amount: null,
      tiers,
    };
    await createPrice(plan, { ...usage, filter_values: { region: ['eu'] } });
    await createPrice(plan, { amount: '12.50', min_quantity: '2', trial_period: 3, end_date: '2100-01-01T00:00:00Z' });
    await createEntitlement(plan, feature, { usage_limit: 0, usage_reset_period: 'MONTHLY' });
    const read = (await call('GET', `/v1/plans/${plan.id}`)).body;
    const { status } = await call('PUT', `/v1/plans/${plan.id}`, { body: read });
    expect(status).toBe(200);
    const again = (await call('GET', `/v1/plans/${plan.id}`)).body;
    const stamps = (_key: string, value: unknown) => (_key === 'updated_at' ? null : value);
    expect(JSON.parse(JSON.stringify(again, stamps))).toEqual(JSON.parse(JSON.stringify(read, stamps)));
  });

  it('fails as a whole and names the element', async () => {
    const plan = await createPlan();
    const price = await createPrice(plan, { amount: '1' });
    const other = await createPrice(await createPlan(), { amount: '1' });
    const update = (body: object) => call('PUT', `/v1/plans/${plan.id}`, { body: { name: 'never', ...body } });

    const amount = await update({ prices: [{ id: price.id, amount: '2' }] });
    expect(amount).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect(amount.body.message).toContain('prices[0].amount');
    const foreign = await update({ prices: [{ id: price.id }, { id: other.id }] });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(foreign.body.message).toContain('prices[1]');
    const incomplete = await update({ prices: [{ amount: '1' }] });
    expect(incomplete).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(incomplete.body.message).toContain('prices[0].type');
    expect(await update({ credit_grants: [{ name: 'x' }] })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining('credit_grants[0].cadence') },
    });
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.name).toBe(plan.name);
  });

  it('refuses a change of an archived plan', async () => {
    const plan = await createPlan();
    await call('DELETE', `/v1/plans/${plan.id}`);
    expect(await call('PUT', `/v1/plans/${plan.id}`, { body: { name: 'x' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
  });
});

describe('DELETE /plans/{id}', () => {
  it('archives, keeps the plan readable, and answers 200 again', async () => {
    const plan = await createPlan();
    expect(await call('DELETE', `/v1/plans/${plan.id}`)).toMatchObject({
      status: 200,
      body: { message: expect.any(String) },
    });
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.status).toBe('archived');
    expect((await call('DELETE', `/v1/plans/${plan.id}`)).status).toBe(200);
    expect(await audited(plan.id)).toEqual(['created', 'archived']);
  });

  it('is refused while a subscription that is not cancelled uses the plan', async () => {
    const plan = await createPlan();
    const at = new Date().toISOString();
    await inTransaction(database, scope, (tx) =>
      tx.rows(
        `insert into subscription (id, tenant_id, environment_id, customer_id, invoicing_customer_id, plan_id, subscription_status, currency,
           billing_period, billing_cycle, billing_anchor, timezone, start_date, current_period_start, current_period_end, collection_method,
           payment_behavior, proration_behavior, created_at, updated_at)
         values ('subs_x', $1, $2, 'cust_x', 'cust_x', $3, 'draft', 'usd', 'MONTHLY', 'anniversary', $4, 'UTC', $4, $4, $4, 'a', 'b', 'c', $4, $4)`,
        [scope.tenantId, scope.environmentId, plan.id, at],
      ),
    );
    const refused = await call('DELETE', `/v1/plans/${plan.id}`);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', details: { context: { subscription_id: 'subs_x' } } },
    });
    await inTransaction(database, scope, (tx) =>
      tx.rows(`update subscription set subscription_status = 'cancelled' where id = 'subs_x'`),
    );
    expect((await call('DELETE', `/v1/plans/${plan.id}`)).status).toBe(200);
  });
});

describe('POST /plans/{id}/clone', () => {
  it('copies live prices, entitlements and credit grants under new ids', async () => {
    const plan = await createPlan({ description: 'text', metadata: { a: '1', b: '1' } });
    const price = await createPrice(plan, { amount: '5', lookup_key: 'five' });
    const ended = await createPrice(plan, { amount: '6' });
    await call('DELETE', `/v1/prices/${ended.id}`);
    const feature = await createFeature({ type: 'static' });
    await createEntitlement(plan, feature, { static_value: 'gold' });
    const grant = { name: 'Credits', cadence: 'ONETIME', credits: '10', scope: 'PLAN', plan_id: plan.id };
    expect((await call('POST', '/v1/creditgrants', { body: grant })).status).toBe(201);

    const body = { name: 'Copy', lookup_key: 'copy', metadata: { b: '2' } };
    const clone = await call('POST', `/v1/plans/${plan.id}/clone`, { body });
    expect(clone.status).toBe(201);
    expect(clone.body).toMatchObject({
      name: 'Copy',
      description: 'text',
      metadata: { a: '1', b: '2', source_plan_id: plan.id },
      prices: [
        {
          amount: '5',
          lookup_key: null,
          parent_price_id: null,
          plan_id: clone.body.id,
          start_date: clone.body.created_at,
        },
      ],
      entitlements: [{ feature_id: feature.id, static_value: 'gold', plan_id: clone.body.id }],
      credit_grants: [{ name: 'Credits', credits: '10', plan_id: clone.body.id }],
    });
    expect(clone.body.prices[0].id).not.toBe(price.id);
    expect((await call('POST', `/v1/plans/${plan.id}/clone`, { body })).status).toBe(409);
    expect((await call('POST', `/v1/plans/${plan.id}/clone`, { body: { name: 'C' } })).body.message).toBe(
      'lookup_key is required',
    );
    expect((await call('POST', '/v1/plans/plan_none/clone', { body: { name: 'C', lookup_key: 'c' } })).status).toBe(
      404,
    );
  });
});

describe('what hangs on a plan', () => {
  it('lists its entitlements at once, or by page', async () => {
    const plan = await createPlan();
    for (const name of ['a', 'b', 'c'])
      await createEntitlement(plan, await createFeature({ type: 'boolean', name: `${plan.id} ${name}` }), {});
    const all = await call('GET', `/v1/plans/${plan.id}/entitlements`);
    expect(all.body.pagination).toEqual({ total: 3, limit: 0, offset: 0 });
    expect(all.body.items).toHaveLength(3);
    expect(all.body.items[0]).toMatchObject({ plan: { id: plan.id, prices: null }, feature: { type: 'boolean' } });
    const page = await call('GET', `/v1/plans/${plan.id}/entitlements?limit=2`);
    expect(page.body.pagination).toEqual({ total: 3, limit: 2, offset: 2 });
    expect((await call('GET', '/v1/plans/plan_none/entitlements')).status).toBe(404);
  });

  it('has no credit grants yet', async () => {
    const plan = await createPlan();
    expect((await call('GET', `/v1/plans/${plan.id}/creditgrants`)).body).toEqual({
      items: [],
      pagination: { total: 0, limit: 50, offset: 50 },
    });
  });

  it('is shown in a search as far as it is asked for', async () => {
    const plan = await createPlan();
    const feature = await createFeature({});
    await createPrice(plan, { type: 'USAGE', meter_id: feature.meter_id, invoice_cadence: 'ARREAR' });
    await createEntitlement(plan, feature, {});
    const search = async (expand?: string) =>
      (await call('POST', '/v1/plans/search', { body: { plan_ids: [plan.id], expand } })).body.items[0];
    expect(await search()).toMatchObject({ prices: null, entitlements: null, credit_grants: null });
    expect(await search('prices,credit_grant')).toMatchObject({
      prices: [{ meter: null }],
      entitlements: null,
      credit_grants: [],
    });
    expect(await search('prices.meters,entitlements.features')).toMatchObject({
      prices: [{ meter: { id: feature.meter_id } }],
      entitlements: [{ feature: { id: feature.id, meter: { id: feature.meter_id } } }],
    });
    expect((await call('POST', '/v1/plans/search', { body: { expand: 'secrets' } })).status).toBe(400);
  });
});

it('keeps plans of another environment out of sight', async () => {
  const plan = await createPlan();
  const { apiKey } = await api.otherTenant();
  expect((await call('GET', `/v1/plans/${plan.id}`, { apiKey })).status).toBe(404);
  expect((await call('PUT', `/v1/plans/${plan.id}`, { apiKey, body: {} })).status).toBe(404);
  expect((await call('DELETE', `/v1/plans/${plan.id}`, { apiKey })).status).toBe(404);
  expect((await call('POST', '/v1/plans/search', { apiKey, body: { plan_ids: [plan.id] } })).body.items).toEqual([]);
});

import { expect, test } from 'vitest';
import { created, subscribe, testPlatform } from '../../support/billing.ts';
import { catalogue, cloning, marks, type Place, type Wire } from './environment-clone.fixture.ts';

const { api, base, temporal } = await testPlatform();
const { rows, at, environment, latest, clone, allow } = cloning(api, base, temporal);
const sandbox = await at(base.scope.environmentId);
await allow();
const source = await catalogue(api);

test('a clone into a new environment copies features and plans with everything that belongs to them', async () => {
  const customer = await created(api, '/customers', { external_id: 'acme', name: 'Acme' });
  await subscribe(api, {
    customer_id: customer.id,
    plan_id: source.plan.id,
    override_line_items: [{ price_id: source.fee.id, amount: '5' }],
  });
  const before = await rows('select id, updated_at from plan union all select id, updated_at from feature order by 1');
  const run = await clone(sandbox, { name: 'Production', type: 'production' });
  expect(run).toEqual({
    id: expect.stringMatching(/^env_clone_/),
    workflow_id: `environment-clone/${sandbox.id}/${run.target_environment_id}`,
    source_environment_id: sandbox.id,
    target_environment_id: expect.stringMatching(/^env_/),
    clone_status: 'completed',
    features: { cloned: 2, skipped: 0, failed: 0 },
    plans: { cloned: 1, skipped: 0, failed: 0 },
    errors: [],
    started_at: expect.any(String),
    finished_at: expect.any(String),
  });
  const { body: made } = await api<Wire>('GET', `/environments/${run.target_environment_id}`);
  expect(made).toMatchObject({ name: 'Production', type: 'production' });
  const after = await rows(
    `select id, updated_at from plan where environment_id = $1 union all select id, updated_at from feature where environment_id = $1 order by 1`,
    [sandbox.id],
  );
  expect(after).toEqual(before);
});

const groupsIn = async (place: Place) => (await place.api<Wire>('POST', '/groups/search', {})).body.items as Wire[];
const target = async () => at((await latestTarget()).target_environment_id);
const latestTarget = async () => (await api<Wire>('GET', `/environments/${sandbox.id}/clone`)).body;

test('the copy of a feature has a meter, a group and an id of its own', async () => {
  const there = await target();
  const [calls, support] = await there.all('/features');
  const { id, meter_id, group_id, created_at, updated_at, environment_id } = calls;
  const own = { id, meter_id, group_id, created_at, updated_at, environment_id };
  const { meter, group, ...same } = source.calls;
  expect(calls).toMatchObject({
    ...same,
    ...own,
    metadata: { tier: 'a', ...marks('feature', source.calls, sandbox) },
    meter: null,
    group: null,
  });
  expect(environment_id).toBe(there.id);
  expect(support).toMatchObject({ type: 'static', lookup_key: 'support', meter_id: null });
  const [copiedMeter, ...otherMeters] = await there.all('/meters');
  expect(otherMeters).toEqual([]);
  const { id: meterId, created_at: since, updated_at: until } = copiedMeter;
  const ofCopy = { id: meterId, environment_id: there.id, created_at: since, updated_at: until };
  expect(copiedMeter).toEqual({ ...meter, ...ofCopy });
  expect(meterId).toBe(meter_id);
  expect(meterId).not.toBe(meter.id);
  const [copiedGroup] = (await groupsIn(there)).filter((one) => one.lookup_key === 'use');
  expect(copiedGroup).toMatchObject({
    id: group_id,
    name: 'Use',
    entity_type: 'feature',
    entity_ids: [id],
    metadata: marks('group', source.group, sandbox),
  });
});

test('the copy of a plan has prices, entitlements and grants that refer to what is in the target', async () => {
  const there = await target();
  const [found] = await there.all('/plans');
  const { body: plan } = await there.api<Wire>('GET', `/plans/${found.id}`);
  expect(plan).toMatchObject({
    name: 'Pro',
    lookup_key: 'pro',
    description: 'For professionals',
    display_order: 3,
    metadata: { colour: 'blue', ...marks('plan', source.plan, sandbox) },
  });
  const [calls, support] = await there.all('/features');
  const priceGroup = (await groupsIn(there)).find((one) => one.lookup_key === 'pay');
  const [unit] = await there.all('/prices/units');
  expect(unit).toMatchObject({ code: 't0k', conversion_rate: '0.02', precision: 2 });
  expect(unit.metadata).toEqual({ kind: 'token', ...marks('price_unit', source.unit, sandbox) });
  const kept = { start_date: '2020-01-01T00:00:00.000Z', end_date: null, parent_price_id: null, plan_id: plan.id };
  expect(plan.prices).toMatchObject([
    { ...kept, amount: '30', lookup_key: 'pro-fee', metadata: { a: '1', ...marks('price', source.fee, sandbox) } },
    {
      ...kept,
      tiers: source.perCall.tiers,
      tier_mode: 'SLAB',
      meter_id: calls.meter_id,
      group_id: priceGroup.id,
      filter_values: { region: ['eu'] },
      display_name: source.perCall.display_name,
      metadata: marks('price', source.perCall, sandbox),
    },
    {
      ...kept,
      amount: '2',
      price_unit: 't0k',
      price_unit_id: unit.id,
      price_unit_amount: '100',
      conversion_rate: '0.02',
    },
  ]);
  expect(plan.entitlements).toMatchObject([
    { feature_id: calls.id, usage_limit: 500, usage_reset_period: 'MONTHLY', is_soft_limit: true, plan_id: plan.id },
    { feature_id: support.id, static_value: 'gold', plan_id: plan.id },
  ]);
  const { body: grants } = await there.api<Wire>('GET', `/plans/${plan.id}/creditgrants`);
  expect(grants.items).toMatchObject([
    {
      name: 'Welcome',
      scope: 'PLAN',
      plan_id: plan.id,
      credits: '25.5',
      period: 'MONTHLY',
      expiration_type: 'BILLING_CYCLE',
      priority: 2,
      metadata: { reason: 'welcome', ...marks('credit_grant', source.grant, sandbox) },
    },
  ]);
});

test('customers, subscriptions, their prices, settings and keys stay where they are', async () => {
  const there = await target();
  expect(await there.all('/customers')).toEqual([]);
  expect(await there.all('/subscriptions')).toEqual([]);
  const [counts] = await rows(
    `select (select count(*)::int from price where environment_id = $1) as prices,
       (select count(*)::int from api_key where environment_id = $1 and name <> 'Test') as keys,
       (select count(*)::int from setting where environment_id = $1) as settings`,
    [there.id],
  );
  expect(counts).toEqual({ prices: 3, keys: 0, settings: 0 });
});

test('every copy is audited and announced in the target, in the name of the caller, and so is the run', async () => {
  const { target_environment_id: id, id: runId } = await latestTarget();
  const audited = await rows(
    `select object_type, action, count(*)::int as n, count(distinct actor)::int as actors, min(actor) as actor
     from audit_entry where environment_id = $1 group by 1, 2 order by 1, 2`,
    [id],
  );
  const by = { actors: 1, actor: base.scope.actor };
  expect(audited).toEqual(
    [
      ['alert_setting', 'created', 1],
      ['credit_grant', 'created', 1],
      ['entitlement', 'created', 2],
      ['environment_clone', 'completed', 1],
      ['environment_clone', 'started', 1],
      ['feature', 'created', 2],
      ['group', 'created', 2],
      ['meter', 'created', 1],
      ['plan', 'created', 1],
      ['price', 'created', 3],
      ['price_unit', 'created', 1],
    ].map(([object_type, action, n]) => ({ object_type, action, n, ...by })),
  );
  const [started] = await rows(
    `select request_id, detail from audit_entry where object_id = $1 and action = 'started'`,
    [runId],
  );
  expect(started).toMatchObject({
    request_id: expect.stringMatching(/./),
    detail: { source_environment_id: sandbox.id },
  });
  const announced = await rows(
    'select event_name, count(*)::int as n from outbox_event where environment_id = $1 group by 1 order by 1',
    [id],
  );
  expect(announced).toEqual([
    { event_name: 'entitlement.created', n: 2 },
    { event_name: 'feature.created', n: 2 },
  ]);
});

test('a copied plan bills a customer of the target, and its meter counts events that came before it too', async () => {
  const there = await environment('Counting');
  await created(there.api, '/customers', { external_id: 'early', name: 'Early' });
  const event = { event_name: 'call', external_customer_id: 'early', properties: { region: 'eu' } };
  await created(there.api, '/events', event);
  await clone(sandbox, { target_environment_id: there.id });
  await created(there.api, '/events', event);
  const [calls] = await there.all('/features');
  const answer = await there.api<Wire>('POST', '/events/usage/meter', {
    meter_id: calls.meter_id,
    external_customer_id: 'early',
  });
  expect(answer.body).toMatchObject({ event_name: 'call', value: 2 });
  const [customer] = await there.all('/customers');
  const [plan] = await there.all('/plans');
  const subscription = await subscribe(there.api, { customer_id: customer.id, plan_id: plan.id });
  expect(subscription).toMatchObject({ subscription_status: 'active', line_items: [{}, {}, {}] });
});

test('a repeated clone skips what is there and changes nothing', async () => {
  const { id } = await target();
  const everything = () =>
    rows(
      `select id, updated_at from feature where environment_id = $1 union all select id, updated_at from meter where environment_id = $1
       union all select id, updated_at from plan where environment_id = $1 union all select id, updated_at from price where environment_id = $1
       union all select id, updated_at from catalogue_group where environment_id = $1 order by 1`,
      [id],
    );
  const before = await everything();
  const first = await latest(sandbox, id);
  const run = await clone(sandbox, { target_environment_id: id });
  expect(run).toMatchObject({
    features: { cloned: 0, skipped: 2, failed: 0 },
    plans: { cloned: 0, skipped: 1, failed: 0 },
    errors: [],
  });
  expect(run.id).not.toBe(first.id);
  expect(await everything()).toEqual(before);
});

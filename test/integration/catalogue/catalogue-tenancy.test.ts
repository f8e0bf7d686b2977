import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call } = api;
const { createPlan, createPrice, createFeature, createEntitlement } = catalogue(api);
const { apiKey: strangersKey } = await api.otherTenant();

const plan = await createPlan({ lookup_key: 'shared' });
const feature = await createFeature({ lookup_key: 'shared' });
const price = await createPrice(plan, { lookup_key: 'shared' });
const entitlement = await createEntitlement(plan, feature);
const grouping = { name: 'Shared', entity_type: 'price', lookup_key: 'shared' };
const group = (await call('POST', '/v1/groups', { body: grouping })).body;

describe('a record of another tenant', () => {
  it.each([
    ['GET', `/plans/${plan.id}`, undefined],
    ['PUT', `/plans/${plan.id}`, {}],
    ['DELETE', `/plans/${plan.id}`, undefined],
    ['POST', `/plans/${plan.id}/clone`, { name: 'x', lookup_key: 'x' }],
    ['GET', `/plans/${plan.id}/entitlements`, undefined],
    ['GET', `/plans/${plan.id}/creditgrants`, undefined],
    ['GET', `/prices/${price.id}`, undefined],
    ['GET', '/prices/lookup/shared', undefined],
    ['PUT', `/prices/${price.id}`, { amount: '0' }],
    ['DELETE', `/prices/${price.id}`, undefined],
    ['GET', `/features/${feature.id}`, undefined],
    ['PUT', `/features/${feature.id}`, {}],
    ['DELETE', `/features/${feature.id}`, undefined],
    ['POST', `/features/${feature.id}/clone`, { name: 'x', lookup_key: 'x' }],
    ['GET', `/meters/${feature.meter_id}`, undefined],
    ['PUT', `/meters/${feature.meter_id}`, { filters: [{ key: 'a', values: ['b'] }] }],
    ['POST', `/meters/${feature.meter_id}/disable`, undefined],
    ['DELETE', `/meters/${feature.meter_id}`, undefined],
    ['GET', `/entitlements/${entitlement.id}`, undefined],
    ['PUT', `/entitlements/${entitlement.id}`, {}],
    ['DELETE', `/entitlements/${entitlement.id}`, undefined],
    ['GET', `/groups/${group.id}`, undefined],
    ['DELETE', `/groups/${group.id}`, undefined],
    ['POST', '/prices', { ...flatPrice, plan_id: plan.id }],
    ['POST', '/features', { name: 'x', type: 'metered', meter_id: feature.meter_id }],
    ['POST', '/entitlements', { plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' }],
  ] as const)('is missing: %s %s', async (method, path, body) => {
    const answer = await call(method, `/v1${path}`, { apiKey: strangersKey, body });
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it.each(['plans', 'prices', 'features', 'entitlements', 'groups'])('is in no list: %s', async (noun) => {
    const answer = await call('POST', `/v1/${noun}/search`, { apiKey: strangersKey, body: {} });
    expect(answer).toMatchObject({ status: 200, body: { items: [], pagination: { total: 0 } } });
  });

  it('holds no key of theirs', async () => {
    for (const [path, body] of [
      ['/plans', { name: 'x', lookup_key: 'shared' }],
      ['/features', { name: 'x', type: 'boolean', lookup_key: 'shared' }],
      ['/groups', grouping],
    ] as const) {
      expect((await call('POST', `/v1${path}`, { apiKey: strangersKey, body })).status).toBe(201);
    }
  });
});

describe('two requests at once', () => {
  it.each([
    ['the same plan key', '/plans', () => ({ name: 'x', lookup_key: 'race' })],
    ['the same feature key', '/features', () => ({ name: 'x', type: 'boolean', lookup_key: 'race' })],
    ['the same price key', '/prices', () => ({ ...flatPrice, plan_id: plan.id, lookup_key: 'race' })],
  ])('leave one winner for %s', async (_name, path, body) => {
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/v1${path}`, { body: body() })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(answer.body.code).toBe('already_exists');
  });

  it('leave one grant of a feature, and never a grant of an archived one', async () => {
    const contested = await createFeature({ type: 'boolean' });
    const grant = () =>
      call('POST', '/v1/entitlements', {
        body: { plan_id: plan.id, feature_id: contested.id, feature_type: 'boolean' },
      });
    const [one, two, archiving] = await Promise.all([grant(), grant(), call('DELETE', `/v1/features/${contested.id}`)]);
    const granted = [one, two].filter(({ status }) => status === 201).length;
    expect(granted).toBeLessThanOrEqual(1);
    expect(archiving.status).toBe(granted === 1 ? 400 : 200);
  });
});

it('answers a repeated Idempotency-Key with the first answer', async () => {
  const headers = { 'idempotency-key': 'plan-once' };
  const body = { name: 'Once', lookup_key: 'once' };
  const first = await call('POST', '/v1/plans', { body, headers });
  const again = await call('POST', '/v1/plans', { body, headers });
  expect(again).toMatchObject({ status: 201, body: first.body });
});

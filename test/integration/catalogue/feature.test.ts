import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue } from './catalogue.fixture.ts';

const api = await testApi();
const { call, scope } = api;
const { createPlan, createFeature, createEntitlement, audited, emitted } = catalogue(api);
const meter = {
  name: 'Calls',
  event_name: ' call ',
  aggregation: { type: 'SUM', field: 'n' },
  reset_usage: 'BILLING_PERIOD',
};

describe('POST /features', () => {
  it('creates a metered feature with its meter, with every documented key', async () => {
    const { status, body } = await call('POST', '/v1/features', {
      body: {
        name: 'API calls (EU)',
        type: 'metered',
        meter,
        unit_singular: 'call',
        unit_plural: 'calls',
        reporting_unit: { unit_singular: 'k', unit_plural: 'ks', conversion_rate: '0.001' },
        alert_settings: { alert_enabled: true, critical: { threshold: '10' } },
      },
    });
    expect(status).toBe(201);
    const record = {
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_by: scope.actor,
      updated_by: scope.actor,
    };
    const stamps = { created_at: expect.any(String), updated_at: expect.any(String) };
    expect(body).toEqual({
      ...record,
      ...stamps,
      id: expect.stringMatching(/^feat_/),
      name: 'API calls (EU)',
      description: null,
      lookup_key: 'api_calls_eu_',
      type: 'metered',
      meter_id: body.meter.id,
      meter: {
        ...record,
        ...stamps,
        id: expect.stringMatching(/^meter_/),
        name: 'Calls',
        event_name: 'call',
        aggregation: { type: 'SUM', field: 'n', expression: null, multiplier: null, bucket_size: null, group_by: null },
        filters: [],
        reset_usage: 'BILLING_PERIOD',
      },
      group_id: null,
      group: null,
      unit_singular: 'call',
      unit_plural: 'calls',
      reporting_unit: { unit_singular: 'k', unit_plural: 'ks', conversion_rate: 0.001 },
      alert_settings: {
        alert_enabled: true,
        critical: { threshold: '10', condition: 'below' },
        warning: null,
        info: null,
      },
      metadata: {},
    });
    expect((await call('GET', `/v1/features/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/v1/meters/${body.meter.id}`)).body).toEqual(body.meter);
    expect(await emitted(body.id)).toEqual([
      {
        event_type: 'feature.created',
        feature: {
          id: body.id,
          name: 'API calls (EU)',
          lookup_key: 'api_calls_eu_',
          description: null,
          type: 'metered',
          unit_singular: 'call',
          unit_plural: 'calls',
          meter_id: body.meter.id,
          group_id: null,
          metadata: {},
        },
      },
    ]);
    expect(await audited(body.id)).toEqual(['created']);
  });

  it('takes a published meter by id', async () => {
    const { meter_id } = await createFeature();
    expect(await createFeature({ meter_id })).toMatchObject({ meter_id, meter: { id: meter_id } });
    await call('POST', `/v1/meters/${meter_id}/disable`);
    expect(await call('POST', '/v1/features', { body: { name: 'x', type: 'metered', meter_id } })).toMatchObject({
      status: 400,
    });
    expect(
      await call('POST', '/v1/features', { body: { name: 'x', type: 'metered', meter_id: 'meter_none' } }),
    ).toMatchObject({ status: 404 });
  });

  it('leaves no meter behind when the feature is refused', async () => {
    await createFeature({ type: 'boolean', lookup_key: 'taken' });
    const before = (await call('GET', '/v1/meters')).body.pagination.total;
    const refused = await call('POST', '/v1/features', {
      body: { name: 'x', type: 'metered', meter, lookup_key: 'taken' },
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'already_exists', message: expect.stringContaining('taken') },
    });
    expect((await call('GET', '/v1/meters')).body.pagination.total).toBe(before);
  });
});

describe('PUT /features/{id}', () => {
  it('changes members, merges alert settings and adds filters to the meter', async () => {
    const feature = await createFeature({ alert_settings: { alert_enabled: true, critical: { threshold: '5' } } });
    const change = {
      name: 'renamed',
      description: 'd',
      metadata: { a: '1' },
      alert_settings: { warning: { threshold: 20, condition: 'below' } },
      filters: [{ key: 'region', values: ['eu'] }],
      type: 'metered',
      lookup_key: feature.lookup_key,
      group_id: '',
    };
    const { status, body } = await call('PUT', `/v1/features/${feature.id}`, { body: change });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'renamed',
      description: 'd',
      metadata: { a: '1' },
      alert_settings: {
        alert_enabled: true,
        critical: { threshold: '5' },
        warning: { threshold: '20', condition: 'below' },
      },
      meter: { filters: [{ key: 'region', values: ['eu'] }] },
    });
    expect((await emitted(feature.id)).map((event) => event.event_type)).toEqual([
      'feature.created',
      'feature.updated',
    ]);
  });

  it.each([
    ['another type', { type: 'boolean' }, 'type'],
    ['another meter', { meter_id: 'meter_other' }, 'meter_id'],
    ['another lookup key', { lookup_key: 'other' }, 'lookup_key'],
    ['half of the unit pair', { unit_singular: 'call' }, 'unit_plural'],
    ['a blank name', { name: ' ' }, 'name'],
    [
      'thresholds out of order',
      { alert_settings: { critical: { threshold: '9' }, warning: { threshold: '8' } } },
      'alert_settings',
    ],
    ['an unknown group', { group_id: 'grp_none' }, 'group_id'],
  ])('refuses %s', async (_name, body, field) => {
    const feature = await createFeature();
    const answer = await call('PUT', `/v1/features/${feature.id}`, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
    expect((await call('GET', `/v1/features/${feature.id}`)).body).toEqual(feature);
  });
});

describe('DELETE /features/{id}', () => {
  it('archives the feature with its meter, and stays listed', async () => {
    const feature = await createFeature();
    expect((await call('DELETE', `/v1/features/${feature.id}`)).status).toBe(200);
    expect((await call('DELETE', `/v1/features/${feature.id}`)).status).toBe(200);
    const listed = await call('POST', '/v1/features/search', { body: { feature_ids: [feature.id], expand: 'meters' } });
    expect(listed.body.items).toMatchObject([{ status: 'archived', meter: { status: 'archived' } }]);
    expect((await call('PUT', `/v1/features/${feature.id}`, { body: { name: 'x' } })).body.code).toBe(
      'invalid_operation',
    );
    expect((await emitted(feature.id)).map((event) => event.event_type)).toEqual([
      'feature.created',
      'feature.deleted',
    ]);
  });

  it('leaves a meter that another feature uses', async () => {
    const feature = await createFeature();
    await createFeature({ meter_id: feature.meter_id });
    await call('DELETE', `/v1/features/${feature.id}`);
    expect((await call('GET', `/v1/meters/${feature.meter_id}`)).body.status).toBe('published');
  });

  it('is refused while a published entitlement grants it', async () => {
    const feature = await createFeature();
    const entitlement = await createEntitlement(await createPlan(), feature);
    const refused = await call('DELETE', `/v1/features/${feature.id}`);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', details: { context: { entitlement_id: entitlement.id } } },
    });
    await call('DELETE', `/v1/entitlements/${entitlement.id}`);
    expect((await call('DELETE', `/v1/features/${feature.id}`)).status).toBe(200);
  });
});

it('clones a feature with a meter of its own', async () => {
  const feature = await createFeature({ metadata: { a: '1' } });
  const { status, body } = await call('POST', `/v1/features/${feature.id}/clone`, {
    body: { name: 'Copy', lookup_key: 'copy' },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({ name: 'Copy', lookup_key: 'copy', metadata: { a: '1', source_feature_id: feature.id } });
  expect(body.meter_id).not.toBe(feature.meter_id);
  expect(body.meter).toMatchObject({ event_name: feature.meter.event_name, aggregation: feature.meter.aggregation });
});

it('finds features by their own filters', async () => {
  const feature = await createFeature({ type: 'config', name: '100% uptime_eu', lookup_key: 'uptime' });
  const search = async (body: object) =>
    (await call('POST', '/v1/features/search', { body })).body.items.map((row: { id: string }) => row.id);
  expect(await search({ name_contains: '100% UPTIME_' })).toEqual([feature.id]);
  expect(await search({ name_contains: '100%_uptime' })).toEqual([]);
  expect(await search({ lookup_key: 'uptime' })).toEqual([feature.id]);
  expect(await search({ lookup_keys: ['uptime', 'other'], status: 'archived' })).toEqual([]);
  expect((await call('GET', '/v1/features?lookup_keys=uptime')).body.items).toMatchObject([
    { id: feature.id, meter: null },
  ]);
});

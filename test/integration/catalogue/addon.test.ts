import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call, scope, otherTenant } = api;
const { createFeature, audited } = catalogue(api);

let count = 0;
async function createAddon(fields: object = {}) {
  count += 1;
  const answer = await call('POST', '/v1/addons', {
    body: { name: `Add-on ${count}`, lookup_key: `addon-${count}`, ...fields },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const priceOf = (addon: { id: string }) => ({ ...flatPrice, entity_type: 'ADDON', entity_id: addon.id });
const grantOf = (addon: { id: string }, feature: { id: string; type: string }) => ({
  entity_type: 'ADDON',
  entity_id: addon.id,
  feature_id: feature.id,
  feature_type: feature.type,
});

describe('POST /addons', () => {
  it('creates an add-on with every documented key, and any JSON as metadata', async () => {
    const metadata = { seats: 5, tags: ['a', null], nested: { on: true }, text: 'x' };
    const body = await createAddon({ description: 'More seats', type: 'onetime', metadata });
    expect(body).toEqual({
      id: expect.stringMatching(/^addon_/),
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: scope.actor,
      updated_at: body.created_at,
      updated_by: scope.actor,
      name: body.name,
      description: 'More seats',
      lookup_key: body.lookup_key,
      type: 'onetime',
      metadata,
      prices: [],
      entitlements: [],
      credit_grants: [],
    });
    expect((await call('GET', `/v1/addons/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/v1/addons/lookup/${body.lookup_key}`)).body).toEqual(body);
    expect(await createAddon()).toMatchObject({ type: 'multiple_instance', description: null, metadata: {} });
    expect(await audited(body.id)).toEqual(['created']);
  });

  it('keeps every digit of a number in the metadata', async () => {
    const text = '{"name":"Exact","lookup_key":"exact","metadata":{"id":12345678901234567890.5}}';
    const headers = { 'content-type': 'application/json', 'x-api-key': api.apiKey };
    const answer = await api.app.inject({ method: 'POST', url: '/v1/addons', headers, payload: text });
    expect(answer.body).toContain('"metadata":{"id":12345678901234567890.5}');
    const read = await api.app.inject({ method: 'GET', url: '/v1/addons/lookup/exact', headers });
    expect(read.body).toContain('"metadata":{"id":12345678901234567890.5}');
  });

  it.each([
    ['no name', { name: undefined }, 400, 'name'],
    ['a blank name', { name: ' ' }, 400, 'name'],
    ['no lookup_key', { lookup_key: undefined }, 400, 'lookup_key'],
    ['a blank lookup_key', { lookup_key: '' }, 400, 'lookup_key'],
    ['an unknown type', { type: 'twice' }, 400, 'type'],
    ['metadata that is no object', { metadata: 'x' }, 400, 'metadata'],
  ])('refuses %s', async (_case, fields, status, field) => {
    const answer = await call('POST', '/v1/addons', { body: { name: 'A', lookup_key: 'never', ...fields } });
    expect(answer).toMatchObject({ status, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
  });

  it('refuses a taken lookup key until its holder is archived', async () => {
    const first = await createAddon({ lookup_key: 'taken' });
    const body = { name: 'Other', lookup_key: 'taken' };
    expect(await call('POST', '/v1/addons', { body })).toMatchObject({
      status: 409,
      body: { code: 'already_exists', message: expect.stringContaining('taken') },
    });
    await call('DELETE', `/v1/addons/${first.id}`);
    expect((await call('POST', '/v1/addons', { body })).status).toBe(201);
  });
});

it('has prices and entitlements of its own', async () => {
  const addon = await createAddon();
  const feature = await createFeature();
  const price = (await call('POST', '/v1/prices', { body: priceOf(addon) })).body;
  expect(price).toMatchObject({ entity_type: 'ADDON', entity_id: addon.id, plan_id: null, display_name: addon.name });
  const granted = await call('POST', '/v1/entitlements', { body: { ...grantOf(addon, feature), usage_limit: 10 } });
  expect(granted.body).toMatchObject({ entity_type: 'ADDON', plan_id: null, addon: { id: addon.id, prices: null } });
  expect((await call('GET', `/v1/addons/${addon.id}`)).body).toMatchObject({
    prices: [{ id: price.id }],
    entitlements: [{ id: granted.body.id, feature: { id: feature.id, meter: { id: feature.meter_id } }, addon: null }],
    credit_grants: [],
  });
  const entitlements = (await call('GET', `/v1/addons/${addon.id}/entitlements`)).body;
  expect(entitlements).toMatchObject({
    items: [{ id: granted.body.id, feature: { id: feature.id }, addon: { id: addon.id } }],
    pagination: { total: 1, limit: 50, offset: 50 },
  });
  expect((await call('GET', `/v1/addons/${addon.id}/creditgrants`)).body).toEqual({
    items: [],
    pagination: { total: 0, limit: 50, offset: 50 },
  });
  const prices = await call('POST', '/v1/prices/search', { body: { entity_ids: [addon.id], expand: 'addons' } });
  expect(prices.body.items).toMatchObject([{ id: price.id, addon: { id: addon.id, lookup_key: addon.lookup_key } }]);
  const found = await call('POST', '/v1/entitlements/search', { body: { addon_ids: [addon.id], expand: 'addons' } });
  expect(found.body.items).toMatchObject([{ id: granted.body.id, addon: { id: addon.id } }]);
  const again = await call('POST', '/v1/entitlements', { body: grantOf(addon, feature) });
  expect(again).toMatchObject({ status: 409, body: { code: 'already_exists' } });
});

it('lists and searches by its own filters, and expands what is asked for', async () => {
  const [one, two] = [await createAddon(), await createAddon()];
  const search = async (body: object) => (await call('POST', '/v1/addons/search', { body })).body.items;
  expect(await search({ addon_ids: [one.id, two.id], order: 'asc' })).toMatchObject([
    { id: one.id, prices: null, entitlements: null, credit_grants: null },
    { id: two.id },
  ]);
  expect(await search({ lookup_keys: [two.lookup_key], expand: 'prices,entitlements,credit_grant' })).toMatchObject([
    { id: two.id, prices: [], entitlements: [], credit_grants: [] },
  ]);
  const named = { field: 'name', operator: 'eq', data_type: 'string', value: { string: one.name } };
  expect(await search({ filters: [named] })).toMatchObject([{ id: one.id }]);
  const listed = await call('GET', `/v1/addons?addon_ids=${one.id}&expand=prices`);
  expect(listed.body).toMatchObject({ items: [{ id: one.id, prices: [] }], pagination: { total: 1 } });
  await call('DELETE', `/v1/addons/${one.id}`);
  expect(await search({ addon_ids: [one.id] })).toEqual([]);
  expect(await search({ addon_ids: [one.id], status: 'archived' })).toMatchObject([{ status: 'archived' }]);
  expect((await call('POST', '/v1/addons/search', { body: { addon_ids: [''] } })).status).toBe(400);
  expect((await call('GET', '/v1/addons?expand=meters')).status).toBe(400);
});

describe('PUT and DELETE /addons/{id}', () => {
  it('changes what is sent and replaces the metadata whole', async () => {
    const addon = await createAddon({ metadata: { a: 1 }, description: 'old' });
    const put = async (body: object) => (await call('PUT', `/v1/addons/${addon.id}`, { body })).body;
    expect(await put({ name: 'New' })).toMatchObject({ name: 'New', description: 'old', metadata: { a: 1 } });
    expect(await put({ metadata: { b: [2] } })).toMatchObject({ metadata: { b: [2] } });
    expect(await put({ metadata: {}, description: '' })).toMatchObject({ metadata: {}, description: null });
    expect((await call('PUT', `/v1/addons/${addon.id}`, { body: { name: ' ' } })).status).toBe(400);
  });

  it('archives, again and again, and refuses what would be added after', async () => {
    const addon = await createAddon();
    const feature = await createFeature();
    for (let round = 0; round < 2; round += 1) {
      expect(await call('DELETE', `/v1/addons/${addon.id}`)).toMatchObject({
        status: 200,
        body: { message: expect.stringContaining(addon.id) },
      });
    }
    expect(await audited(addon.id)).toEqual(['created', 'archived']);
    expect((await call('GET', `/v1/addons/${addon.id}`)).body.status).toBe('archived');
    expect((await call('GET', `/v1/addons/lookup/${addon.lookup_key}`)).status).toBe(404);
    for (const answer of [
      await call('PUT', `/v1/addons/${addon.id}`, { body: { name: 'x' } }),
      await call('POST', '/v1/prices', { body: priceOf(addon) }),
      await call('POST', '/v1/entitlements', { body: grantOf(addon, feature) }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
  });

  it('knows nothing of ids that are not its own', async () => {
    const addon = await createAddon();
    const { apiKey } = await otherTenant();
    for (const path of [addon.id, `${addon.id}/entitlements`, `${addon.id}/creditgrants`, 'addon_none']) {
      expect(
        (await call('GET', `/v1/addons/${path}`, { apiKey: path === 'addon_none' ? api.apiKey : apiKey })).status,
      ).toBe(404);
    }
    expect((await call('DELETE', '/v1/addons/addon_none')).status).toBe(404);
    const body = priceOf({ id: 'addon_none' });
    expect(await call('POST', '/v1/prices', { body })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

import { describe, expect, it } from 'vitest';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call } = api;
const { audited, createFeature, createPlan } = catalogue(api);

let count = 0;
async function createCostsheet(fields: object = {}) {
  const answer = await call('POST', '/v1/costs', { body: { name: `Costs ${++count}`, ...fields } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const costPrice = (costsheet: { id: string }, fields: object = {}) =>
  call('POST', '/v1/prices', {
    body: { ...flatPrice, entity_type: 'COSTSHEET', entity_id: costsheet.id, ...fields },
  });

describe('a cost sheet', () => {
  it('is answered in its wrapper and flat, with every key', async () => {
    const body = await createCostsheet({
      lookup_key: 'cloud',
      description: 'What we pay',
      metadata: { team: 'infra' },
    });
    const { costsheet, ...flat } = body;
    expect(flat).toEqual(costsheet);
    expect(costsheet).toEqual({
      id: expect.stringMatching(/^cost_/),
      tenant_id: api.scope.tenantId,
      environment_id: api.scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: expect.any(String),
      updated_at: expect.any(String),
      updated_by: expect.any(String),
      name: expect.any(String),
      description: 'What we pay',
      lookup_key: 'cloud',
      metadata: { team: 'infra' },
      prices: [],
    });
    expect((await call('GET', `/v1/costs/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/v1/costs/${body.id}?expand=prices`)).body).toEqual(body);
  });

  it('changes by what is sent, and is audited', async () => {
    const { id } = await createCostsheet({ description: 'Old', metadata: { a: '1' } });
    const name = `Renamed ${++count}`;
    const { status, body } = await call('PUT', `/v1/costs/${id}`, { body: { name, metadata: {} } });
    expect([status, body.costsheet]).toMatchObject([200, { name, description: 'Old', metadata: {} }]);
    expect((await call('PUT', `/v1/costs/${id}`, { body: {} })).status).toBe(200);
    expect(await audited(id)).toEqual(['created', 'updated', 'updated']);
  });

  it('is deleted once; it stays readable, can no longer be changed, and frees its name and key', async () => {
    const sheet = await createCostsheet({ lookup_key: 'deleted-later' });
    const deleted = await call('DELETE', `/v1/costs/${sheet.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { message: expect.any(String), id: sheet.id }]);
    expect((await call('GET', `/v1/costs/${sheet.id}`)).body).toMatchObject({ costsheet: { status: 'deleted' } });
    expect(await call('DELETE', `/v1/costs/${sheet.id}`)).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
    expect(await call('PUT', `/v1/costs/${sheet.id}`, { body: { name: 'x' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    await createCostsheet({ name: sheet.name, lookup_key: 'deleted-later' });
  });

  it.each([
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['no name', {}, 'name'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name'],
    ['a metadata value that is no text', { name: 'ok', metadata: { a: 1 } }, 'metadata'],
  ])('is refused with %s', async (_what, body, field) => {
    const answer = await call('POST', '/v1/costs', { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
  });

  it('is refused with a name or a lookup key that another published one has, also on an update', async () => {
    const first = await createCostsheet({ lookup_key: 'taken' });
    const taken = { status: 409, body: { code: 'already_exists' } };
    expect(await call('POST', '/v1/costs', { body: { name: first.name } })).toMatchObject(taken);
    expect(await call('POST', '/v1/costs', { body: { name: 'Other', lookup_key: 'taken' } })).toMatchObject(taken);
    const second = await createCostsheet();
    expect(await call('PUT', `/v1/costs/${second.id}`, { body: { name: first.name } })).toMatchObject(taken);
    expect(await call('PUT', `/v1/costs/${second.id}`, { body: { lookup_key: 'taken' } })).toMatchObject(taken);
  });
});

describe('the active cost sheet', () => {
  it('is the newest published one; none answers 404', async () => {
    const { apiKey } = await api.otherTenant();
    expect(await call('GET', '/v1/costs/active', { apiKey })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const make = async (name: string) => (await call('POST', '/v1/costs', { apiKey, body: { name } })).body;
    const first = await make('First');
    const second = await make('Second');
    expect((await call('GET', '/v1/costs/active', { apiKey })).body).toMatchObject({ costsheet: { id: second.id } });
    await call('DELETE', `/v1/costs/${second.id}`, { apiKey });
    expect((await call('GET', '/v1/costs/active', { apiKey })).body).toMatchObject({ id: first.id });
  });
});

describe('POST /costs/search', () => {
  it('finds by id, name and key, in the usual keys and in those of the published client', async () => {
    const sheet = await createCostsheet({ lookup_key: 'searched' });
    const other = await createCostsheet();
    const found = async (body: object) => {
      const answer = await call('POST', '/v1/costs/search', { body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body.items.map((item: { id: string }) => item.id);
    };
    for (const body of [
      { costsheet_ids: [sheet.id] },
      { costsheetIDs: [sheet.id] },
      { name: sheet.name },
      { lookup_key: 'searched' },
      { lookupKey: 'searched', tenantID: 'another', environmentID: 'another' },
      { filters: [{ field: 'name', operator: 'eq', data_type: 'string', value: { string: sheet.name } }] },
    ]) {
      expect(await found(body), JSON.stringify(body)).toEqual([sheet.id]);
    }
    const both = { costsheetIDs: [sheet.id, other.id] };
    expect(await found(both)).toEqual([other.id, sheet.id]);
    expect(await found({ ...both, queryFilter: { sort: 'name', order: 'asc', limit: 1 } })).toEqual([sheet.id]);
    expect(await found({ ...both, queryFilter: { offset: 1 } })).toEqual([sheet.id]);
    expect(await found({ ...both, timeRangeFilter: { start_time: other.created_at } })).toEqual([other.id]);
    expect(await found({ ...both, queryFilter: { status: 'deleted' } })).toEqual([]);
    const page = await call('POST', '/v1/costs/search', { body: { ...both, queryFilter: { limit: 1, offset: 1 } } });
    expect(page.body).toMatchObject({ pagination: { limit: 1, offset: 1, total: 2 }, items: [{ prices: null }] });
  });

  it.each([
    { limit: 1001 },
    { queryFilter: { limit: 1001 } },
    { queryFilter: { offset: -1 } },
    { queryFilter: { expand: 'prices' } },
    { sort: [{ field: 'secret', direction: 'asc' }] },
    { queryFilter: { sort: 'secret' } },
    { costsheetIDs: [''] },
    { timeRangeFilter: { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' } },
  ])('refuses %j', async (body) => {
    expect(await call('POST', '/v1/costs/search', { body })).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
  });
});

describe('a price of a cost sheet', () => {
  it('is shown on it, is superseded and ended like any price, and is found by its owner', async () => {
    const sheet = await createCostsheet();
    const feature = await createFeature();
    const created = await costPrice(sheet, {
      type: 'USAGE',
      meter_id: feature.meter_id,
      invoice_cadence: 'ARREAR',
      amount: '0.002',
    });
    expect([created.status, created.body]).toMatchObject([
      201,
      { entity_type: 'COSTSHEET', entity_id: sheet.id, plan_id: null, amount: '0.002' },
    ]);
    const successor = await call('PUT', `/v1/prices/${created.body.id}`, { body: { amount: '0.003' } });
    expect(successor.body).toMatchObject({ entity_type: 'COSTSHEET', parent_price_id: created.body.id });
    const { prices } = (await call('GET', `/v1/costs/${sheet.id}`)).body;
    expect(prices.map((price: { amount: string }) => price.amount)).toEqual(['0.002', '0.003']);
    expect(prices[1]).toMatchObject({ id: successor.body.id, meter: { id: feature.meter_id } });
    const listed = await call('GET', `/v1/prices?entity_type=COSTSHEET&entity_ids=${sheet.id}`);
    expect(listed.body.items).toMatchObject([{ id: successor.body.id }]);
  });

  it('needs a cost sheet that exists and is published', async () => {
    const plan = await createPlan();
    for (const id of ['cost_unknown', plan.id]) {
      expect(await costPrice({ id })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    const sheet = await createCostsheet();
    await call('DELETE', `/v1/costs/${sheet.id}`);
    expect(await costPrice(sheet)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  });
});

it('needs the permission costsheet', async () => {
  const sheet = await createCostsheet();
  const { apiKey: reader } = await accountWithRoles(api.database, api.scope, ['all_reader']);
  expect((await call('GET', `/v1/costs/${sheet.id}`, { apiKey: reader })).status).toBe(200);
  expect((await call('POST', '/v1/costs/search', { apiKey: reader, body: {} })).status).toBe(200);
  expect((await call('PUT', `/v1/costs/${sheet.id}`, { apiKey: reader, body: {} })).status).toBe(403);
  const { apiKey: ingestor } = await accountWithRoles(api.database, api.scope, ['event_ingestor'], 'service_account');
  expect((await call('GET', '/v1/costs/active', { apiKey: ingestor })).status).toBe(403);
});

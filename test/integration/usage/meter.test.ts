import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue } from '../catalogue/catalogue.fixture.ts';

const api = await testApi();
const { call } = api;
const { audited } = catalogue(api);
const count = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };

async function createMeter(fields: object = {}) {
  const answer = await call('POST', '/v1/meters', { body: { ...count, ...fields } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

describe('PUT /meters/{id}', () => {
  it('unites values and adds keys; nothing is removed', async () => {
    const meter = await createMeter({ filters: [{ key: 'region', values: ['eu', 'us'] }] });
    const filters = [
      { key: 'region', values: ['us', 'ap'] },
      { key: 'tier', values: ['gold'] },
    ];
    const { status, body } = await call('PUT', `/v1/meters/${meter.id}`, { body: { filters } });
    expect(status).toBe(200);
    expect(body.filters).toEqual([
      { key: 'region', values: ['eu', 'us', 'ap'] },
      { key: 'tier', values: ['gold'] },
    ]);
    expect(await audited(meter.id)).toEqual(['created', 'filters extended']);
    await call('PUT', `/v1/meters/${meter.id}`, { body: { filters } });
    expect(await audited(meter.id)).toEqual(['created', 'filters extended']);
  });

  it.each([[[]], [[{ key: 'a', values: [] }]], [[{ key: ' ', values: ['x'] }]]])(
    'refuses filters %j',
    async (filters) => {
      const meter = await createMeter();
      expect(await call('PUT', `/v1/meters/${meter.id}`, { body: { filters } })).toMatchObject({
        status: 400,
        body: { code: 'validation_error' },
      });
    },
  );
});

it.each([
  ['DELETE', ''],
  ['POST', '/disable'],
] as const)('%s /meters/{id}%s archives, repeatedly, and refuses changes afterwards', async (method, suffix) => {
  const meter = await createMeter();
  for (const _time of [1, 2]) expect((await call(method, `/v1/meters/${meter.id}${suffix}`)).status).toBe(200);
  const put = await call('PUT', `/v1/meters/${meter.id}`, { body: { filters: [{ key: 'a', values: ['b'] }] } });
  expect(put).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const listed = await call('GET', `/v1/meters?meter_ids=${meter.id}`);
  expect(listed.body.items).toMatchObject([{ status: 'archived' }]);
  expect((await call('GET', `/v1/meters?meter_ids=${meter.id}&status=published`)).body.items).toEqual([]);
});

it('lists meters by event name', async () => {
  const meter = await createMeter({ event_name: 'only_here' });
  const { body } = await call('GET', '/v1/meters?event_name=only_here');
  expect(body).toEqual({ items: [meter], pagination: { total: 1, limit: 50, offset: 50 } });
  expect((await call('GET', '/v1/meters/meter_none')).status).toBe(404);
});

import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();

const names = ['Alpha', 'alpine', '100%', '100x', 'Gamma'];
const ids: string[] = [];

beforeAll(async () => {
  for (const [index, name] of names.entries()) {
    const body = { external_id: `c-${index}`, name, metadata: { odd: String(index % 2), n: String(index) } };
    const created = await call('POST', '/v1/customers', { body });
    ids.push(created.body.id);
  }
  await call('PUT', `/v1/customers/${ids[0]}`, { body: { email: 'alpha@example.com' } });
  // Equal instants: only the id tells the order.
  await inTransaction(database, scope, (tx) => tx.rows(`update customer set created_at = '2026-01-01T00:00:00Z'`));
});

const search = async (body: object) => call('POST', '/v1/customers/search', { body });
const found = async (body: object) => (await search(body)).body.items.map((item: { name: string }) => item.name).sort();

describe('pages', () => {
  it('default to 50 and give the offset of the next page', async () => {
    const { body } = await call('GET', '/v1/customers');
    expect(body.pagination).toEqual({ limit: 50, offset: 50, total: 5 });
    expect((await call('GET', '/v1/customers?limit=0')).body.pagination.limit).toBe(50);
  });

  it('neither repeat nor lose a row of one instant', async () => {
    const seen: string[] = [];
    for (const offset of [0, 2, 4]) {
      const { body } = await call('GET', `/v1/customers?limit=2&offset=${offset}`);
      seen.push(...body.items.map((item: { id: string }) => item.id));
    }
    expect(seen).toEqual([...ids].reverse());
  });

  it('past the end are empty with the right total', async () => {
    const { body } = await call('GET', '/v1/customers?offset=100');
    expect([body.items, body.pagination.total]).toEqual([[], 5]);
  });

  it.each(['limit=1001', 'limit=-1', 'limit=1.5', 'limit=x', 'offset=-1', 'order=up', 'status=live', 'expand=wallets'])(
    'refuse %s',
    async (query) => expect((await call('GET', `/v1/customers?${query}`)).status).toBe(400),
  );

  it('refuse an unknown sort column and an end before the start', async () => {
    expect((await call('GET', '/v1/customers?sort=secret')).status).toBe(400);
    expect((await search({ sort: [{ field: 'number;drop', direction: 'asc' }] })).status).toBe(400);
    const range = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };
    expect((await search(range)).status).toBe(400);
  });

  it('select by creation instant, the end excluded', async () => {
    expect(await found({ start_time: '2026-01-01T00:00:00Z' })).toHaveLength(5);
    expect(await found({ end_time: '2026-01-01T00:00:00Z' })).toHaveLength(0);
  });
});

describe('ids and metadata', () => {
  it('take repeated and comma-separated ids in a query string', async () => {
    const both = await call('GET', `/v1/customers?customer_ids=${ids[0]},${ids[1]}`);
    expect(both.body.pagination.total).toBe(2);
    const repeated = await call('GET', `/v1/customers?customer_ids=${ids[0]}&customer_ids=${ids[2]}`);
    expect(repeated.body.pagination.total).toBe(2);
  });

  it('are not restricted by an empty list, and an unknown id matches nothing', async () => {
    expect(await found({ customer_ids: [] })).toHaveLength(5);
    expect(await found({ customer_ids: ['cust_unknown'] })).toEqual([]);
    expect(await found({ external_ids: ['c-1', 'c-2'], external_id: 'c-2' })).toEqual(['100%']);
  });

  it('match by containment of every pair', async () => {
    expect(await found({ metadata: { odd: '1' } })).toEqual(['100x', 'alpine']);
    expect(await found({ metadata: { odd: '1', n: '0' } })).toEqual([]);
  });
});

describe('conditions', () => {
  const filter = (field: string, operator: string, data_type: string, value: object) => ({
    filters: [{ field, operator, data_type, value }],
  });

  it.each([
    ['eq is case-sensitive', filter('name', 'eq', 'string', { string: 'alpha' }), []],
    ['contains is not', filter('name', 'contains', 'string', { string: 'ALP' }), ['Alpha', 'alpine']],
    ['% is a plain character', filter('name', 'contains', 'string', { string: '0%' }), ['100%']],
    ['_ is a plain character', filter('name', 'contains', 'string', { string: '_' }), []],
    ['no value matches not_contains', filter('email', 'not_contains', 'string', { string: 'alpha' }), names.slice(1)],
    ['no value matches not_in', filter('email', 'not_in', 'array', { array: ['alpha@example.com'] }), names.slice(1)],
    ['in', filter('external_id', 'in', 'array', { array: ['c-4', 'c-9'] }), ['Gamma']],
    ['before excludes the instant', filter('created_at', 'before', 'date', { date: '2026-01-01T00:00:00Z' }), []],
    ['eq on a date', filter('created_at', 'eq', 'date', { date: '2026-01-01T01:00:00+01:00' }), names],
  ])('%s', async (_name, body, expected) => {
    expect(await found(body)).toEqual([...expected].sort());
  });

  it.each([
    ['unknown field', filter('number', 'eq', 'string', { string: 'x' })],
    ['operator of another type', filter('name', 'gt', 'string', { string: 'x' })],
    ['value of another type', filter('name', 'eq', 'string', { number: 1 })],
    ['no value', filter('name', 'eq', 'string', {})],
    ['two values', filter('name', 'eq', 'string', { string: 'x', number: 1 })],
    ['a type that does not fit the column', filter('created_at', 'eq', 'string', { string: 'x' })],
    ['unknown operator', filter('name', 'like', 'string', { string: 'x' })],
  ])('refuse an %s', async (_name, body) => {
    expect((await search(body)).status).toBe(400);
  });
});

describe('conditions on columns that may have no value', () => {
  beforeAll(async () => {
    for (const body of [
      { name: 'Low', display_order: 4, description: 'cheap' },
      { name: 'High', display_order: 5 },
      { name: 'None' },
    ]) {
      await call('POST', '/v1/plans', { body });
    }
  });

  it.each([
    ['a number between two integers', 'display_order', 'gt', 'number', { number: 4.5 }, ['High']],
    ['no integer equals a fraction', 'display_order', 'eq', 'number', { number: 4.5 }, []],
    ['a fraction below', 'display_order', 'gte', 'number', { number: 4.5 }, ['High']],
    ['a fraction above', 'display_order', 'lt', 'number', { number: 4.5 }, ['Low']],
    ['a number above every integer', 'display_order', 'lt', 'number', { number: 1e12 }, ['High', 'Low']],
    ['nothing reaches it', 'display_order', 'gte', 'number', { number: 1e12 }, []],
    ['a number below every integer', 'display_order', 'gt', 'number', { number: -1e12 }, ['High', 'Low']],
    ['a missing text equals no text', 'description', 'eq', 'string', { string: '' }, []],
    ['a missing text contains nothing', 'description', 'contains', 'string', { string: '' }, ['Low']],
    ['a missing text matches not_contains', 'description', 'not_contains', 'string', { string: '' }, ['High', 'None']],
    ['a missing text is in no list', 'description', 'in', 'array', { array: ['', 'cheap'] }, ['Low']],
    ['a missing text matches not_in', 'description', 'not_in', 'array', { array: ['', 'cheap'] }, ['High', 'None']],
  ])('%s', async (_name, field, operator, data_type, value, expected) => {
    const { body } = await call('POST', '/v1/plans/search', {
      body: { filters: [{ field, operator, data_type, value }] },
    });
    expect(body.items.map((item: { name: string }) => item.name).sort()).toEqual(expected);
  });
});

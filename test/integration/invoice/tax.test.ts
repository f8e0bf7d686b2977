import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

const api = await testApi();
const { call, database, scope, otherTenant } = api;

let codes = 0;
async function rate(fields: Record<string, unknown> = {}) {
  codes += 1;
  const body = { name: `Rate ${codes}`, code: `rate_${codes}`, percentage_value: '10', ...fields };
  const answer = await call('POST', '/v1/taxes/rates', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function link(fields: Record<string, unknown>) {
  const answer = await call('POST', '/v1/taxes/associations', { body: fields });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

async function customer(fields: Record<string, unknown> = {}) {
  codes += 1;
  const answer = await call('POST', '/v1/customers', {
    body: { external_id: `c-${codes}`, name: 'Customer', ...fields },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function linksOf(customerId: string) {
  const path = `/v1/taxes/associations?entity_type=customer&entity_id=${customerId}&sort=priority&order=asc`;
  return (await call('GET', path)).body.items;
}

const audited = (id: string) =>
  inTransaction(database, scope, async (tx) =>
    (await tx.rows('select action from audit_entry where object_id = $1 order by id', [id])).map((row) => row.action),
  );

describe('tax rates', () => {
  it('are created with every documented key', async () => {
    const body = await rate({ percentage_value: 8.25, description: 'State', metadata: { region: 'NY' } });
    expect(body).toMatchObject({
      id: expect.stringMatching(/^taxrate_/),
      environment_id: scope.environmentId,
      status: 'published',
      description: 'State',
      percentage_value: '8.25',
      fixed_value: null,
      scope: 'INTERNAL',
      tax_rate_status: 'ACTIVE',
      tax_rate_type: 'percentage',
      metadata: { region: 'NY' },
    });
    expect((await call('GET', `/v1/taxes/rates/${body.id}`)).body).toEqual(body);
    expect(await audited(body.id)).toEqual(['created']);
  });

  it('ignore a fixed value beside a percentage and take both ends of the range', async () => {
    expect(await rate({ percentage_value: '0', fixed_value: '3' })).toMatchObject({
      percentage_value: '0',
      fixed_value: null,
    });
    expect(await rate({ percentage_value: '100' })).toMatchObject({ percentage_value: '100' });
  });

  it.each([
    [{ percentage_value: undefined, fixed_value: '3' }, 'percentage_value'],
    [{ percentage_value: '-1' }, 'percentage_value'],
    [{ percentage_value: '100.01' }, 'percentage_value'],
    [{ percentage_value: 'ten' }, 'percentage_value'],
    [{ name: ' ' }, 'name'],
    [{ code: undefined }, 'code'],
    [{ scope: 'GLOBAL' }, 'scope'],
    [{ tax_rate_type: 'fixed' }, 'tax_rate_type'],
  ])('refuse %j and name the field', async (fields, field) => {
    const body = { name: 'N', code: 'refused', percentage_value: '1', ...fields };
    const answer = await call('POST', '/v1/taxes/rates', { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message.startsWith(field)).toBe(true);
  });

  it('have a code of their own until they are deleted', async () => {
    const first = await rate({ code: 'own_code' });
    const second = { name: 'N', code: 'own_code', percentage_value: '1' };
    const taken = await call('POST', '/v1/taxes/rates', { body: second });
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    const other = await rate();
    expect((await call('PUT', `/v1/taxes/rates/${other.id}`, { body: { code: 'own_code' } })).status).toBe(409);
    expect((await call('DELETE', `/v1/taxes/rates/${first.id}`)).status).toBe(204);
    expect((await call('DELETE', `/v1/taxes/rates/${first.id}`)).status).toBe(204);
    expect(await audited(first.id)).toEqual(['created', 'deleted']);
    expect((await call('POST', '/v1/taxes/rates', { body: second })).status).toBe(201);
    expect((await call('GET', `/v1/taxes/rates/${first.id}`)).body.status).toBe('archived');
    expect((await call('PUT', `/v1/taxes/rates/${first.id}`, { body: { name: 'X' } })).status).toBe(400);
  });

  it('are listed as a bare array with paging in the headers', async () => {
    const some = [await rate({ scope: 'EXTERNAL' }), await rate({ scope: 'EXTERNAL' })];
    const answer = await call('GET', '/v1/taxes/rates?scope=EXTERNAL&limit=1&offset=1');
    expect(answer.body).toEqual([some[0]]);
    expect(answer.headers).toMatchObject({ 'x-total-count': '2', 'x-limit': '1', 'x-offset': '1' });
    const byCode = await call('GET', `/v1/taxes/rates?taxrate_codes=${some[0].code},${some[1].code}`);
    expect(byCode.body.map((one: { id: string }) => one.id)).toEqual([some[1].id, some[0].id]);
    expect((await call('GET', `/v1/taxes/rates?taxrate_ids=${some[0].id}`)).body).toEqual([some[0]]);
  });

  it('change freely while nothing uses them, and only in status when something does', async () => {
    const { id, code } = await rate();
    const path = `/v1/taxes/rates/${id}`;
    expect((await call('PUT', path, { body: { name: 'New', description: 'D' } })).body).toMatchObject({
      name: 'New',
      description: 'D',
    });
    const { id: customerId } = await customer({ tax_rate_overrides: [] });
    const linked = await link({ tax_rate_code: code, entity_type: 'customer', entity_id: customerId });
    const refused = await call('PUT', path, { body: { name: 'Newer' } });
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_error']);
    expect(refused.body.message).toContain(linked.id);
    expect((await call('PUT', path, { body: { name: 'New' } })).status).toBe(200);
    expect((await call('PUT', path, { body: { tax_rate_status: 'INACTIVE' } })).body.tax_rate_status).toBe('INACTIVE');
    const deletion = await call('DELETE', path);
    expect([deletion.status, deletion.body.code]).toEqual([400, 'validation_error']);
    await call('DELETE', `/v1/taxes/associations/${linked.id}`);
    expect((await call('DELETE', path)).status).toBe(204);
  });
});

describe('tax associations', () => {
  it('link an entity with the defaults, with every documented key', async () => {
    const made = await rate();
    const { id, external_id } = await customer({ tax_rate_overrides: [] });
    const body = await link({ tax_rate_code: made.code, external_customer_id: external_id });
    expect(body).toMatchObject({
      id: expect.stringMatching(/^ta_/),
      tax_rate_id: made.id,
      tax_rate: made,
      entity_type: 'customer',
      entity_id: id,
      tax_behavior: 'exclusive',
      priority: 100,
      currency: '',
      auto_apply: true,
      start_date: expect.any(String),
      end_date: null,
      metadata: {},
      status: 'published',
    });
    const path = `/v1/taxes/associations/${body.id}`;
    expect((await call('GET', path)).body).toEqual(body);
    const change = { priority: 5, auto_apply: false, tax_behavior: 'inclusive', metadata: { a: 'b' } };
    expect((await call('PUT', path, { body: change })).body).toMatchObject(change);
    const listed = await call('GET', `/v1/taxes/associations?external_customer_id=${external_id}`);
    expect(listed.body).toMatchObject({ items: [{ id: body.id, tax_rate: made }], pagination: { total: 1 } });
    expect((await call('GET', `/v1/taxes/associations?tax_rate_id=${made.id}`)).body.items).toHaveLength(1);
    expect((await call('DELETE', path)).body).toMatchObject({ id: body.id, status: 'archived' });
    expect((await call('DELETE', path)).status).toBe(200);
    expect(await audited(body.id)).toEqual(['created', 'updated', 'deleted']);
    expect((await call('PUT', path, { body: { priority: 1 } })).status).toBe(400);
  });

  it('exist once for a rate, an entity and a currency', async () => {
    const { code } = await rate();
    const { id } = await customer({ tax_rate_overrides: [] });
    const body = { tax_rate_code: code, entity_type: 'customer', entity_id: id };
    await link(body);
    const again = await call('POST', '/v1/taxes/associations', { body });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    expect(await link({ ...body, currency: 'EUR' })).toMatchObject({ currency: 'eur' });
  });

  it.each([
    [{ tax_rate_code: 'nowhere', entity_type: 'tenant' }, 404, 'tax_rate_code'],
    [{ entity_type: undefined }, 400, 'entity_type'],
    [{ entity_type: 'customer', entity_id: undefined }, 400, 'entity_id'],
    [{ entity_type: 'customer', entity_id: 'cust_nobody' }, 404, 'customer cust_nobody'],
    [{ entity_type: 'subscription', entity_id: 'subs_none' }, 404, 'subscription subs_none'],
    [{ entity_type: 'invoice', entity_id: 'inv_none' }, 404, 'invoice inv_none'],
    [{ entity_type: 'invoice', external_customer_id: 'acme' }, 400, 'external_customer_id'],
    [{ entity_type: 'tenant', priority: -1 }, 400, 'priority'],
    [{ entity_type: 'tenant', tax_behavior: 'both' }, 400, 'tax_behavior'],
    [{ entity_type: 'tenant', start_date: '2026-02-01T00:00:00Z', end_date: '2026-02-01T00:00:00Z' }, 400, 'end_date'],
  ])('refuse %j', async (fields, status, begins) => {
    const { code } = await rate();
    const answer = await call('POST', '/v1/taxes/associations', { body: { tax_rate_code: code, ...fields } });
    expect(answer.status).toBe(status);
    expect(answer.body.message.startsWith(begins)).toBe(true);
  });

  it('are not seen, named or changed by another tenant', async () => {
    const { id, code } = await rate();
    const { id: customerId } = await customer({ tax_rate_overrides: [] });
    const linked = await link({ tax_rate_code: code, entity_type: 'customer', entity_id: customerId });
    const { apiKey } = await otherTenant();
    const asked = await Promise.all([
      call('GET', `/v1/taxes/rates/${id}`, { apiKey }),
      call('PUT', `/v1/taxes/rates/${id}`, { apiKey, body: { name: 'X' } }),
      call('DELETE', `/v1/taxes/rates/${id}`, { apiKey }),
      call('GET', `/v1/taxes/associations/${linked.id}`, { apiKey }),
      call('PUT', `/v1/taxes/associations/${linked.id}`, { apiKey, body: { priority: 1 } }),
      call('DELETE', `/v1/taxes/associations/${linked.id}`, { apiKey }),
      call('POST', '/v1/taxes/associations', { apiKey, body: { tax_rate_code: code, entity_type: 'tenant' } }),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404]);
    expect((await call('GET', '/v1/taxes/rates', { apiKey })).body).toEqual([]);
  });
});

describe('the links of a customer', () => {
  it('are copies of what the environment applies by itself, which later changes leave alone', async () => {
    const [standing, byHand] = [await rate(), await rate()];
    const source = await link({
      tax_rate_code: standing.code,
      entity_type: 'tenant',
      priority: 7,
      tax_behavior: 'inclusive',
      currency: 'eur',
      metadata: { from: 'tenant' },
    });
    const other = await link({ tax_rate_code: byHand.code, entity_type: 'tenant', auto_apply: false });
    const { id } = await customer();
    const links = await linksOf(id);
    expect(links).toMatchObject([
      {
        tax_rate_id: standing.id,
        priority: 7,
        tax_behavior: 'inclusive',
        currency: 'eur',
        metadata: { from: 'tenant' },
      },
    ]);
    expect(await audited(links[0].id)).toEqual(['created']);
    for (const one of [source, other]) await call('DELETE', `/v1/taxes/associations/${one.id}`);
    expect(await linksOf(id)).toHaveLength(1);
    expect(await linksOf((await customer()).id)).toEqual([]);
  });

  it('are the rates it names, none for an empty list, and replaced by an update that names others', async () => {
    const [first, second] = [await rate(), await rate()];
    const source = await link({ tax_rate_code: first.code, entity_type: 'tenant' });
    expect(await linksOf((await customer({ tax_rate_overrides: [] })).id)).toEqual([]);
    const overrides = [{ tax_rate_code: second.code, currency: 'USD', auto_apply: false, priority: 3 }];
    const { id } = await customer({ tax_rate_overrides: overrides });
    expect(await linksOf(id)).toMatchObject([
      { tax_rate_id: second.id, currency: 'usd', auto_apply: false, priority: 3, tax_behavior: 'exclusive' },
    ]);
    await call('PUT', `/v1/customers/${id}`, { body: { name: 'Renamed' } });
    expect(await linksOf(id)).toHaveLength(1);
    const again = [{ tax_rate_code: first.code, currency: 'usd' }];
    await call('PUT', `/v1/customers/${id}`, { body: { tax_rate_overrides: again } });
    expect(await linksOf(id)).toMatchObject([{ tax_rate_id: first.id, priority: 100 }]);
    await call('PUT', `/v1/customers/${id}`, { body: { tax_rate_overrides: [] } });
    expect(await linksOf(id)).toEqual([]);
    await call('DELETE', `/v1/taxes/associations/${source.id}`);
  });

  it('are refused whole when one is unknown or named twice, and no customer is made', async () => {
    const { code } = await rate();
    const one = { tax_rate_code: code, currency: 'usd' };
    const body = { external_id: 'refused-taxes', name: 'N' };
    const unknown = await call('POST', '/v1/customers', {
      body: { ...body, tax_rate_overrides: [one, { tax_rate_code: 'nowhere', currency: 'usd' }] },
    });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    expect(unknown.body.message).toContain('tax_rate_overrides[1].tax_rate_code');
    const twice = await call('POST', '/v1/customers', { body: { ...body, tax_rate_overrides: [one, one] } });
    expect([twice.status, twice.body.code]).toEqual([400, 'validation_error']);
    expect(twice.body.message).toContain('tax_rate_overrides[1]');
    expect((await call('GET', '/v1/customers/external/refused-taxes')).status).toBe(404);
  });
});

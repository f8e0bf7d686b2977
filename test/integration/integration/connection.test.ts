import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { examples, removeAll } from './connection.fixture.ts';

const { call, database, scope, otherTenant } = await testApi();
const connections = '/v1/connections';

beforeEach(() => removeAll({ call }));

const nomod = (changes: object = {}) => ({
  name: 'Nomod',
  provider_type: 'nomod',
  encrypted_secret_data: { api_key: 'nm_1' },
  ...changes,
});

async function create(body: object): Promise<Record<string, unknown> & { id: string }> {
  const answer = await call('POST', connections, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const off = { inbound: false, outbound: false };
const allOff = {
  customer: off,
  deal: off,
  invoice: off,
  payment: off,
  plan: off,
  price: off,
  quote: off,
  subscription: off,
  aws_marketplace: null,
  invoice_sync_settings: null,
  s3: null,
};

describe('a connection', () => {
  it('has every key, times to whole seconds, and none of its secrets', async () => {
    const made = await create(nomod({ name: '  Nomod  ', metadata: { team: 'billing' } }));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made).toEqual({
      id: expect.stringMatching(/^conn_[0-9A-Z]{26}$/),
      name: 'Nomod',
      provider_type: 'nomod',
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      metadata: { team: 'billing' },
      sync_config: allOff,
      health: { status: 'unknown', checked_at: null, problem: null },
      created_at: time,
      updated_at: time,
      created_by: expect.stringMatching(/^user_/),
      updated_by: expect.stringMatching(/^user_/),
    });
    expect((await call('GET', `${connections}/${made.id}`)).body).toEqual(made);
  });

  it.each([
    ['name', nomod({ name: undefined }), 'name is required'],
    ['name', nomod({ name: '  ' }), 'name must not be empty'],
    ['name', nomod({ name: 'x'.repeat(256) }), 'name'],
    ['provider_type', nomod({ provider_type: undefined }), 'provider_type'],
    ['provider_type', nomod({ provider_type: 'flexprice' }), 'provider_type'],
    ['metadata.count', nomod({ metadata: { count: 1 } }), 'metadata.count'],
    ['metadata', nomod({ metadata: { '': 'x' } }), 'metadata must not contain an empty key'],
  ])('is refused for its %s, and nothing is written', async (field, body, message) => {
    const answer = await call('POST', connections, { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(message);
    expect(Object.keys(answer.body.details.fields)).toContain(field);
    expect((await call('GET', connections)).body.total).toBe(0);
  });

  it('is one a provider and environment, except S3', async () => {
    const first = await create(nomod());
    const second = await call('POST', connections, { body: nomod({ name: 'Again' }) });
    expect([second.status, second.body.code]).toEqual([409, 'already_exists']);
    expect(second.body.details.fields).toEqual({ provider_type: 'connected already' });
    const s3 = { provider_type: 's3', encrypted_secret_data: examples.s3?.least };
    await create({ name: 'One', ...s3 });
    await create({ name: 'Two', ...s3 });
    const other = await otherTenant();
    expect((await call('POST', connections, { apiKey: other.apiKey, body: nomod() })).status).toBe(201);
    await call('DELETE', `${connections}/${first.id}`);
    await create(nomod());
  });

  it('is one a provider when two are made at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => call('POST', connections, { body: nomod() })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('is made once for an Idempotency-Key, which another body cannot use', async () => {
    const headers = { 'idempotency-key': 'connection-1' };
    const first = await call('POST', connections, { body: nomod(), headers });
    const again = await call('POST', connections, { body: nomod(), headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await call('POST', connections, { body: nomod({ name: 'Other' }), headers });
    expect(other.status).toBe(409);
    const change = { body: { name: 'Renamed' }, headers: { 'idempotency-key': 'connection-2' } };
    const changed = await call('PUT', `${connections}/${first.body.id}`, change);
    expect((await call('PUT', `${connections}/${first.body.id}`, change)).body).toEqual(changed.body);
  });
});

describe('a list', () => {
  it('is flat, echoes its offset and counts all', async () => {
    const made = [await create(nomod()), await create({ ...nomod(), provider_type: 'tabs', name: 'Tabs' })];
    const page = await call('GET', `${connections}?limit=1&offset=1`);
    expect(page.body).toEqual({ connections: [made[0]], total: 2, limit: 1, offset: 1 });
    const searched = await call('POST', `${connections}/search`);
    expect(searched.body).toEqual({ connections: [made[1], made[0]], total: 2, limit: 50, offset: 0 });
  });

  it('is filtered by ids, provider, status and conditions', async () => {
    const [one, two] = [await create(nomod()), await create({ ...nomod(), provider_type: 'tabs', name: 'Tabs' })];
    const ids = async (query: string) =>
      (await call('GET', `${connections}?${query}`)).body.connections.map(({ id }: { id: string }) => id);
    const found = async (body: object) =>
      (await call('POST', `${connections}/search`, { body })).body.connections.map(({ id }: { id: string }) => id);
    expect(await ids(`connection_ids=${one.id},conn_unknown`)).toEqual([one.id]);
    expect(await ids('provider_type=tabs')).toEqual([two.id]);
    expect(await found({ connection_ids: [two.id] })).toEqual([two.id]);
    expect(await found({ connection_ids: [] })).toEqual([two.id, one.id]);
    expect(await found({ provider_type: 'nomod' })).toEqual([one.id]);
    const named = { field: 'name', operator: 'contains', data_type: 'string', value: { string: 'tab' } };
    expect(await found({ filters: [named] })).toEqual([two.id]);
    expect(await found({ sort: [{ field: 'provider_type', direction: 'asc' }] })).toEqual([one.id, two.id]);
    await call('DELETE', `${connections}/${one.id}`);
    expect(await ids('')).toEqual([two.id]);
    expect(await ids('status=archived&provider_type=nomod')).toContain(one.id);
  });

  it.each([
    ['GET', '?provider_type=flexprice', undefined],
    ['GET', '?limit=1001', undefined],
    ['GET', '?sort=secret_key_id', undefined],
    ['POST', '/search', { sort: [{ field: 'secret_ciphertext', direction: 'asc' }] }],
    [
      'POST',
      '/search',
      { filters: [{ field: 'secret_key_id', operator: 'eq', data_type: 'string', value: { string: 'x' } }] },
    ],
  ] as const)('%s %s is refused', async (method, path, body) => {
    const answer = await call(method, `${connections}${path}`, { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  });
});

describe('an update', () => {
  it('changes what is sent and leaves the rest', async () => {
    const made = await create(nomod({ metadata: { a: '1' }, sync_config: { customer: { outbound: true } } }));
    const change = async (body: object) => (await call('PUT', `${connections}/${made.id}`, { body })).body;
    expect(await change({})).toEqual(made);
    expect(await change({ name: 'Renamed' })).toMatchObject({ name: 'Renamed', metadata: { a: '1' } });
    expect((await change({ metadata: { b: '2' } })).metadata).toEqual({ b: '2' });
    const after = await change({ sync_config: { invoice: { outbound: true } } });
    expect(after.sync_config).toEqual({ ...allOff, invoice: { inbound: false, outbound: true } });
    expect((await change({ sync_config: null })).sync_config).toEqual(allOff);
    expect((await change({ name: null, metadata: null })).name).toBe('Renamed');
  });

  it('is refused with a field and changes nothing', async () => {
    const made = await create(nomod());
    for (const [body, field] of [
      [{ name: '' }, 'name'],
      [{ metadata: { a: 1 } }, 'metadata.a'],
      [{ sync_config: { plan: { outbound: true } }, name: 'New' }, 'sync_config.plan.outbound'],
      [{ encrypted_secret_data: { secret_key: 'x' }, name: 'New' }, 'encrypted_secret_data.secret_key'],
      [{ encrypted_secret_data: 'x', name: 'New' }, 'encrypted_secret_data'],
    ] as const) {
      const answer = await call('PUT', `${connections}/${made.id}`, { body });
      expect([answer.status, Object.keys(answer.body.details.fields)]).toEqual([400, [field]]);
    }
    expect((await call('GET', `${connections}/${made.id}`)).body).toEqual(made);
  });
});

describe('a deletion', () => {
  it('archives, takes the secrets away for good, and is 404 the second time', async () => {
    const { id } = await create(nomod());
    expect(await call('DELETE', `${connections}/${id}`)).toMatchObject({ status: 204, body: null });
    for (const [method, body] of [['DELETE'], ['GET'], ['PUT', { name: 'x' }]] as const) {
      const answer = await call(method, `${connections}/${id}`, { body });
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
    const rows = await inTransaction(database, scope, (tx) =>
      tx.rows('select status, secret_key_id, secret_nonce, secret_ciphertext from connection where id = $1', [id]),
    );
    expect(rows).toEqual([{ status: 'archived', secret_key_id: null, secret_nonce: null, secret_ciphertext: null }]);
  });
});

it('every change is audited with what it was about, and emits no event', async () => {
  const { id } = await create(nomod());
  const body = { name: 'B', encrypted_secret_data: { api_key: 'nm_2' }, sync_config: {} };
  await call('PUT', `${connections}/${id}`, { body });
  await call('PUT', `${connections}/${id}`, { body: {} });
  await call('DELETE', `${connections}/${id}`);
  const [audit, events] = await inTransaction(database, scope, async (tx) => [
    await tx.rows('select action, actor, detail from audit_entry where object_id = $1 order by id', [id]),
    await tx.rows('select from outbox_event'),
  ]);
  const provider = { provider_type: 'nomod' };
  expect(audit).toEqual([
    { action: 'created', actor: expect.stringMatching(/^user_/), detail: provider },
    {
      action: 'updated',
      actor: expect.stringMatching(/^user_/),
      detail: { ...provider, changed: ['encrypted_secret_data', 'name', 'sync_config'] },
    },
    { action: 'deleted', actor: expect.stringMatching(/^user_/), detail: provider },
  ]);
  expect(events).toEqual([]);
});

describe('permissions', () => {
  it('reading is not writing', async () => {
    const { apiKey } = await accountWithRoles(database, scope, ['all_reader']);
    const { id } = await create(nomod());
    for (const [method, path, body, status] of [
      ['GET', connections, undefined, 200],
      ['POST', `${connections}/search`, {}, 200],
      ['GET', `${connections}/${id}`, undefined, 200],
      ['GET', '/v1/integrations/config', undefined, 200],
      ['GET', '/v1/secrets/integrations/linked', undefined, 200],
      ['POST', connections, nomod(), 403],
      ['PUT', `${connections}/${id}`, { name: 'x' }, 403],
      ['DELETE', `${connections}/${id}`, undefined, 403],
      ['POST', '/v1/secrets/integrations/create/nomod', { name: 'x', provider: 'nomod', credentials: {} }, 403],
      ['DELETE', `/v1/secrets/integrations/${id}`, undefined, 403],
    ] as const) {
      expect((await call(method, path, { apiKey, body })).status, `${method} ${path}`).toBe(status);
    }
  });

  it('an account that only sends events sees none', async () => {
    const { apiKey } = await accountWithRoles(database, scope, ['event_ingestor'], 'service_account');
    for (const path of [connections, '/v1/integrations/config', '/v1/secrets/integrations/linked'])
      expect((await call('GET', path, { apiKey })).status).toBe(403);
  });
});

describe.each(['tenant', 'environment'])('to another %s', (other) => {
  const strangersKey = async () => {
    if (other === 'tenant') return (await otherTenant()).apiKey;
    const made = await call('POST', '/v1/environments', { body: { name: 'Other', type: 'development' } });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return (await accountWithRoles(database, { ...scope, environmentId: made.body.id }, ['super_admin'])).apiKey;
  };

  it('a connection is as one that does not exist', async () => {
    const made = await create(nomod());
    const apiKey = await strangersKey();
    for (const [method, path, body] of [
      ['GET', `${connections}/`, undefined],
      ['PUT', `${connections}/`, { encrypted_secret_data: { api_key: 'stolen' } }],
      ['DELETE', `${connections}/`, undefined],
      ['DELETE', '/v1/secrets/integrations/', undefined],
    ] as const) {
      const foreign = await call(method, `${path}${made.id}`, { apiKey, body });
      const unknown = await call(method, `${path}conn_unknown`, { apiKey, body });
      expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
      expect(JSON.stringify(foreign.body).replaceAll(made.id, 'conn_unknown')).toBe(JSON.stringify(unknown.body));
    }
    expect((await call('GET', connections, { apiKey })).body.total).toBe(0);
    expect(
      (await call('POST', `${connections}/search`, { apiKey, body: { connection_ids: [made.id] } })).body.total,
    ).toBe(0);
    expect((await call('GET', '/v1/integrations/config', { apiKey })).body).toEqual({ integrations: [] });
    expect((await call('GET', '/v1/secrets/integrations/linked', { apiKey })).body).toEqual({ providers: [] });
    expect((await call('GET', '/v1/secrets/integrations/by-provider/nomod', { apiKey })).status).toBe(404);
    expect((await call('GET', `${connections}/${made.id}`)).body).toEqual(made);
    expect((await call('POST', connections, { apiKey, body: nomod() })).status).toBe(201);
  });
});

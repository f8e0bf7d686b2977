import { describe, expect, it } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';

const { app, call, database, scope, apiKey, otherTenant } = await testApi();

const asSystem = (text: string, values: unknown[]) =>
  inSqlTransaction(database, systemScope, (tx) => tx.rows(text, values));
const customer = (externalId: string) => ({ external_id: externalId, name: 'C' });

describe('credentials', () => {
  it('that are missing, unknown, malformed, archived, expired or of an archived user get one answer', async () => {
    const archived = await accountWithRoles(database, scope, ['super_admin']);
    await asSystem(`update api_key set status = 'archived' where id = $1`, [archived.keyId]);
    const expired = await accountWithRoles(database, scope, ['super_admin']);
    await asSystem(`update api_key set expires_at = '2020-01-01T00:00:00Z' where id = $1`, [expired.keyId]);
    const orphan = await accountWithRoles(database, scope, ['super_admin']);
    await asSystem(`update user_account set status = 'archived' where id = $1`, [orphan.userId]);
    const missing = 'An API key is required: send it in the x-api-key header.';
    const wrong = 'The API key in the x-api-key header is not valid here: it is unknown, expired or revoked.';
    const keys = [null, '', 'sk_unknown', 'x'.repeat(600), archived.apiKey, expired.apiKey, orphan.apiKey];
    for (const key of keys) {
      const answer = await call('GET', '/v1/customers', { apiKey: key });
      expect(answer.status).toBe(401);
      const message = key ? wrong : missing;
      expect(answer.body).toEqual({
        code: 'permission_denied',
        http_status_code: 401,
        message,
        success: false,
        error: { message, internal_error: '' },
      });
    }
    const bearer = { headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' } };
    expect((await call('GET', '/v1/customers', { apiKey: null, ...bearer })).status).toBe(401);
    expect((await call('GET', '/v1/customers', { apiKey: 'sk_wrong', ...bearer })).status).toBe(401);
  });

  it('note when they were used', async () => {
    const account = await accountWithRoles(database, scope, ['all_reader']);
    await call('GET', '/v1/users/me', { apiKey: account.apiKey });
    const [row] = await asSystem('select last_used_at from api_key where id = $1', [account.keyId]);
    expect(row?.last_used_at).not.toBeNull();
  });

  it('stay in their environment whatever the header says', async () => {
    const other = await otherTenant();
    const headers = { 'x-environment-id': other.environmentId };
    const created = await call('POST', '/v1/customers', { body: customer('header'), headers });
    expect(created.body.environment_id).toBe(scope.environmentId);
  });
});

describe('permissions', () => {
  it('of an event ingestor do not reach customers', async () => {
    const { apiKey: key } = await accountWithRoles(database, scope, ['event_ingestor'], 'service_account');
    expect((await call('GET', '/v1/customers', { apiKey: key })).body.code).toBe('permission_denied');
    expect((await call('POST', '/v1/customers/search', { apiKey: key })).status).toBe(403);
    expect((await call('GET', '/v1/users/me', { apiKey: key })).status).toBe(200);
    expect((await call('GET', '/v1/environments', { apiKey: key })).status).toBe(200);
  });

  it('of a reader allow a search and no change', async () => {
    const { apiKey: key } = await accountWithRoles(database, scope, ['all_reader']);
    expect((await call('POST', '/v1/customers/search', { apiKey: key })).status).toBe(200);
    expect((await call('POST', '/v1/customers', { apiKey: key, body: customer('r') })).status).toBe(403);
  });

  it('and the key are checked before the body is read', async () => {
    const { apiKey: key } = await accountWithRoles(database, scope, []);
    expect((await call('POST', '/v1/customers', { apiKey: key, body: {} })).status).toBe(403);
    const malformed = (headers: Record<string, string>) =>
      app.inject({
        method: 'POST',
        url: '/v1/customers',
        headers: { 'content-type': 'application/json', ...headers },
        payload: '{"a":',
      });
    expect((await malformed({})).statusCode).toBe(401);
    expect((await malformed({ 'x-api-key': key })).statusCode).toBe(403);
    expect((await malformed({ 'x-api-key': apiKey })).statusCode).toBe(400);
  });

  it('of every role can be read by everybody', async () => {
    const { apiKey: key } = await accountWithRoles(database, scope, []);
    const all = await call('GET', '/v1/rbac/roles', { apiKey: key });
    expect(all.body.roles.map((role: { id: string }) => role.id)).toContain('event_ingestor');
    expect(all.body.roles[0]).toMatchObject({ id: 'super_admin', permissions: { '*': ['*'] } });
    const forServices = await call('GET', '/v1/rbac/roles?user_type=service_account');
    expect(forServices.body.roles.map((role: { id: string }) => role.id)).not.toContain('all_reader');
    expect((await call('GET', '/v1/rbac/roles/all_reader')).body.permissions.customer).toEqual(['read']);
    expect((await call('GET', '/v1/rbac/roles/unknown')).status).toBe(404);
  });
});

describe('a suspended tenant', () => {
  it('reads and searches but changes nothing', async () => {
    const other = await otherTenant();
    await asSystem(`update tenant set state = 'suspended' where id = $1`, [other.tenantId]);
    const options = { apiKey: other.apiKey };
    expect((await call('GET', '/v1/customers', options)).status).toBe(200);
    expect((await call('POST', '/v1/customers/search', { ...options, body: {} })).status).toBe(200);
    const refused = await call('POST', '/v1/customers', { ...options, body: customer('s') });
    expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied']);
  });
});

describe('another tenant', () => {
  it('sees and changes nothing of this one', async () => {
    const other = await otherTenant();
    const mine = await call('POST', '/v1/customers', { body: customer('mine') });
    const options = { apiKey: other.apiKey };
    const id = mine.body.id;
    const [foreign, unknown] = [
      await call('GET', `/v1/customers/${id}`, options),
      await call('GET', '/v1/customers/cust_unknown', options),
    ];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(foreign.body.message.replace(id, 'cust_unknown')).toBe(unknown.body.message);
    expect((await call('PUT', `/v1/customers/${id}`, { ...options, body: { name: 'Stolen' } })).status).toBe(404);
    expect((await call('DELETE', `/v1/customers/${id}`, options)).status).toBe(404);
    expect((await call('GET', '/v1/customers/external/mine', options)).status).toBe(404);
    expect(
      (await call('POST', '/v1/customers/search', { ...options, body: { customer_ids: [id] } })).body.items,
    ).toEqual([]);
    const child = { ...customer('child'), parent_customer_id: id };
    expect((await call('POST', '/v1/customers', { ...options, body: child })).status).toBe(400);
    expect((await call('GET', `/v1/environments/${scope.environmentId}`, options)).status).toBe(404);
    expect((await call('GET', `/v1/tenants/${scope.tenantId}`, options)).status).toBe(403);
    expect((await call('POST', '/v1/customers', { ...options, body: customer('mine') })).status).toBe(201);
    expect((await call('GET', `/v1/customers/${id}`)).body).toEqual(mine.body);
  });
});

describe('the own account', () => {
  it('comes with its tenant', async () => {
    const { body } = await call('GET', '/v1/users/me');
    expect(body).toMatchObject({
      id: scope.actor,
      type: 'user',
      roles: ['super_admin'],
      tenant: { id: scope.tenantId },
    });
    const tenant = await call('GET', `/v1/tenants/${scope.tenantId}`);
    expect(tenant.body).toEqual(body.tenant);
    expect(tenant.body.created_at).toMatch(/:\d\dZ$/);
  });

  it('merges metadata and keeps what is omitted of the tenant', async () => {
    await call('PUT', '/v1/users/me', { body: { name: 'Ada', metadata: { a: '1', b: '2' } } });
    const { body } = await call('PUT', '/v1/users/me', { body: { metadata: { a: '', c: '3' } } });
    expect([body.name, body.metadata]).toEqual(['Ada', { b: '2', c: '3' }]);
    await call('PUT', '/v1/tenants/update', { body: { billing_details: { email: 'a@b.example' } } });
    const renamed = await call('PUT', '/v1/tenants/update', { body: { name: 'Renamed' } });
    expect(renamed.body).toMatchObject({ name: 'Renamed', billing_details: { email: 'a@b.example', phone: null } });
  });
});

it('the sandbox key itself is found in no table', async () => {
  const [row] = await asSystem(`select count(*)::int as n from api_key k where k::text like '%' || $1 || '%'`, [
    apiKey,
  ]);
  expect(row?.n).toBe(0);
});

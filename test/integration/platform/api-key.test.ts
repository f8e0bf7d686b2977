import { describe, expect, it } from 'vitest';
import { Migration20261125_02_publishable_keys } from '../../../db/migrations/20261125_02_publishable_keys.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';

const { app, call, database, scope } = await testApi();
const keys = '/v1/secrets/api/keys';

describe('API keys', () => {
  it('show their text once and work at once', async () => {
    const created = await call('POST', keys, { body: { name: 'Backend', type: 'private_key' } });
    expect(created.status).toBe(201);
    expect(created.body.api_key).toMatch(/^sk_[A-Za-z0-9_-]{43}$/);
    expect(created.headers['cache-control']).toBe('no-store');
    expect(created.body.secret).toMatchObject({ name: 'Backend', roles: ['super_admin'], user_id: scope.actor });
    const text = created.body.api_key as string;
    expect(created.body.secret.display_id).toBe(`${text.slice(0, 5)}***${text.slice(-2)}`);
    expect((await call('GET', '/v1/users/me', { apiKey: text })).status).toBe(200);
    const list = await call('GET', keys);
    expect(JSON.stringify(list.body)).not.toContain(text);
    expect(JSON.stringify(list.body)).not.toContain('hash');
  });

  it('are refused at once when removed, also by themselves', async () => {
    const { body } = await call('POST', keys, { body: { name: 'Short', type: 'private_key' } });
    expect(body.api_key).toMatch(/^sk_/);
    expect((await call('GET', '/v1/users/me', { apiKey: body.api_key })).status).toBe(200);
    expect((await call('DELETE', `${keys}/${body.secret.id}`, { apiKey: body.api_key })).status).toBe(204);
    expect((await call('GET', '/v1/users/me', { apiKey: body.api_key })).status).toBe(401);
    expect((await call('DELETE', `${keys}/${body.secret.id}`)).status).toBe(404);
  });

  it('of others are neither listed nor removed by who is no super admin', async () => {
    const writer = await accountWithRoles(database, scope, ['all_writer']);
    const other = await accountWithRoles(database, scope, ['all_reader']);
    const own = await call('GET', keys, { apiKey: writer.apiKey });
    expect(own.body.items.map((item: { id: string }) => item.id)).toEqual([writer.keyId]);
    expect((await call('DELETE', `${keys}/${other.keyId}`, { apiKey: writer.apiKey })).status).toBe(403);
    const inherited = await call('POST', keys, { apiKey: writer.apiKey, body: { name: 'W', type: 'private_key' } });
    expect(inherited.body.secret.roles).toEqual(['all_writer']);
  });

  it('may expire in the future only, and are filtered by that', async () => {
    const past = { name: 'P', type: 'private_key', expires_at: '2020-01-01T00:00:00Z' };
    expect((await call('POST', keys, { body: past })).status).toBe(400);
    expect((await call('POST', keys, { body: { ...past, expires_at: '2020-01-01' } })).status).toBe(400);
    const { body } = await call('POST', keys, { body: { ...past, expires_at: '2999-01-01T00:00:00+02:00' } });
    expect(body.secret.expires_at).toBe('2998-12-31T22:00:00.000Z');
    const ids = async (query: string) =>
      (await call('GET', `${keys}?${query}`)).body.items.map((item: { id: string }) => item.id);
    expect(await ids('not_expired_at=2998-01-01T00:00:00Z')).toContain(body.secret.id);
    expect(await ids('not_expired_at=2999-06-01T00:00:00Z')).not.toContain(body.secret.id);
  });

  it('for a service account carry its roles and need a super admin user', async () => {
    const service = await accountWithRoles(database, scope, ['event_ingestor'], 'service_account');
    const body = { name: 'S', type: 'private_key', service_account_id: service.userId };
    const created = await call('POST', keys, { body });
    expect(created.body.secret).toMatchObject({ roles: ['event_ingestor'], user_type: 'service_account' });
    const writer = await accountWithRoles(database, scope, ['all_writer']);
    expect((await call('POST', keys, { apiKey: writer.apiKey, body })).status).toBe(403);
    expect((await call('POST', keys, { body: { ...body, service_account_id: writer.userId } })).status).toBe(400);
    expect((await call('POST', keys, { body: { ...body, service_account_id: 'user_unknown' } })).status).toBe(404);
  });

  it('leave an audit row when made and removed', async () => {
    const { body } = await call('POST', keys, { body: { name: 'A', type: 'private_key' } });
    await call('DELETE', `${keys}/${body.secret.id}`);
    const rows = await inSqlTransaction(database, systemScope, (tx) =>
      tx.rows('select action, actor, request_id from audit_entry where object_id = $1 order by id', [body.secret.id]),
    );
    expect(rows.map((row) => row.action)).toEqual(['created', 'deleted']);
    expect(rows.every((row) => row.actor === scope.actor && row.request_id !== '')).toBe(true);
  });
});

describe('publishable keys', () => {
  const event = { event_name: 'call', external_customer_id: 'somebody' };
  const publishable = async () => (await call('POST', keys, { body: { name: 'Page', type: 'publishable_key' } })).body;

  it('have a role of their own, whoever makes them', async () => {
    const { secret, api_key: apiKey } = await publishable();
    expect(apiKey).toMatch(/^pk_/);
    expect(secret).toMatchObject({ type: 'publishable_key', roles: ['publishable'], user_id: scope.actor });
    const service = await accountWithRoles(database, scope, ['event_reader'], 'service_account');
    const body = { name: 'S', type: 'publishable_key', service_account_id: service.userId };
    expect((await call('POST', keys, { body })).body.secret.roles).toEqual(['publishable']);
    expect(
      (await call('POST', '/v1/users', { body: { type: 'service_account', roles: ['publishable'] } })).status,
    ).toBe(400);
  });

  it('send events, read what a page of prices shows, and do nothing else', async () => {
    const { api_key: apiKey } = await publishable();
    expect((await call('POST', '/v1/events', { apiKey, body: event })).status).toBe(202);
    const open: string[] = [];
    const document = app.swagger() as unknown as {
      paths: Record<string, Record<string, { operationId: string; security?: unknown[] }>>;
    };
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { operationId, security }] of Object.entries(operations)) {
        if (!path.startsWith('/v1/') || path.startsWith('/v1/customer/portal/') || security?.length === 0) continue;
        const url = path.replaceAll(/\{\w+\}/g, 'unknown');
        const { statusCode } = await app.inject({
          method: method.toUpperCase() as 'GET',
          url,
          headers: { 'x-api-key': apiKey },
        });
        if (statusCode !== 403) open.push(operationId);
      }
    }
    expect(open.sort()).toEqual(
      [
        'ingestEvent',
        'ingestEventsBulk',
        'bulkIngestRawEvent',
        'listPlans',
        'queryPlan',
        'getPlan',
        'getPlanEntitlements',
      ]
        .concat(['listAddons', 'queryAddon', 'getAddon', 'getAddonByLookupKey', 'getAddonEntitlements'])
        .concat(['listFeatures', 'queryFeature', 'getFeature'])
        .sort(),
    );
  });

  it('are listed with their kind, count, and are revoked', async () => {
    const { secret, api_key: apiKey } = await publishable();
    const listed = (await call('GET', `${keys}?limit=100`)).body.items as { id: string; type: string }[];
    expect(listed.find(({ id }) => id === secret.id)?.type).toBe('publishable_key');
    expect((await call('DELETE', `${keys}/${secret.id}`)).status).toBe(204);
    expect((await call('POST', '/v1/events', { apiKey, body: event })).status).toBe(401);
    const { userId, keyId } = await accountWithRoles(database, scope, ['event_reader'], 'service_account');
    await call('POST', keys, { body: { name: 'S', type: 'publishable_key', service_account_id: userId } });
    await call('DELETE', `${keys}/${keyId}`);
    expect((await call('DELETE', `/v1/users/${userId}`)).status).toBe(400);
  });

  it('that hold the roles of their owner lose them at once and, by the migration, with an audit row', async () => {
    const { secret, api_key: apiKey } = await publishable();
    const asSystem = (text: string, values: unknown[] = []) =>
      inSqlTransaction(database, systemScope, (tx) => tx.rows(text, values));
    await asSystem(`update api_key set roles = '{super_admin}' where id = $1`, [secret.id]);
    expect((await call('GET', '/v1/customers', { apiKey })).status).toBe(403);
    const { em, config } = database.orm;
    const migration = new Migration20261125_02_publishable_keys(em.getDriver(), config);
    migration.up();
    for (const query of migration.getQueries()) await asSystem(String(query));
    const [key] = await asSystem('select roles from api_key where id = $1', [secret.id]);
    expect(key!.roles).toEqual(['publishable']);
    const rows = await asSystem('select action, detail from audit_entry where object_id = $1 order by id', [secret.id]);
    expect(rows.at(-1)).toMatchObject({ action: 'roles reduced', detail: { roles_before: ['super_admin'] } });
    expect((await call('POST', '/v1/events', { apiKey, body: event })).status).toBe(202);
  });
});

describe('createSandbox', () => {
  it('finds the sandbox of a given key again', async () => {
    const options = { tenantName: 'Demo', apiKey: 'sk_demo_key_of_this_test_only_0123456789' };
    const first = await createSandbox(database, options);
    expect(await createSandbox(database, options)).toEqual(first);
    expect((await call('GET', '/v1/users/me', { apiKey: options.apiKey })).body.tenant.name).toBe('Demo');
  });
});

import { describe, expect, it } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();
const create = (body: object, apiKey?: string) =>
  call('POST', '/v1/users', { body: { type: 'service_account', ...body }, ...(apiKey ? { apiKey } : {}) });

describe('service accounts', () => {
  it('are created with roles that fit them', async () => {
    const created = await create({ name: 'Agent', roles: ['event_ingestor', 'event_reader'] });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: 'Agent', email: '', type: 'service_account', password: null });
    expect(created.body.tenant.id).toBe(scope.tenantId);
    for (const roles of [undefined, [], ['all_reader'], ['king'], ['super_admin', 'event_reader']]) {
      expect((await create({ roles })).status).toBe(400);
    }
    expect((await create({ roles: ['event_reader'], email: 'a@b.example' })).status).toBe(400);
    expect((await call('POST', '/v1/users', { body: { type: 'user', email: 'a@b.example' } })).status).toBe(501);
  });

  it('get no permission that their maker does not hold', async () => {
    const writer = await accountWithRoles(database, scope, ['all_writer']);
    expect((await create({ roles: ['event_ingestor'] }, writer.apiKey)).status).toBe(201);
    const reader = await accountWithRoles(database, scope, ['all_reader']);
    expect((await create({ roles: ['event_reader'] }, reader.apiKey)).status).toBe(403);
  });

  it('are renamed, their metadata replaced, and people are not found this way', async () => {
    const { body } = await create({ roles: ['event_reader'] });
    const path = `/v1/users/${body.id}`;
    expect((await call('PUT', path, { body: { metadata: { a: '1' } } })).body.metadata).toEqual({ a: '1' });
    expect((await call('PUT', path, { body: { name: 'N', metadata: { b: '2' } } })).body).toMatchObject({
      name: 'N',
      metadata: { b: '2' },
    });
    expect((await call('PUT', path, { body: {} })).status).toBe(400);
    expect((await call('PUT', `/v1/users/${scope.actor}`, { body: { name: 'N' } })).status).toBe(404);
    expect((await call('DELETE', `/v1/users/${scope.actor}`)).status).toBe(400);
  });

  it('stay while a key of theirs works in any environment, and are gone with all their keys after', async () => {
    const { body } = await create({ roles: ['event_reader'] });
    const path = `/v1/users/${body.id}`;
    const keyBody = { name: 'K', type: 'private_key', service_account_id: body.id };
    const { body: key } = await call('POST', '/v1/secrets/api/keys', { body: keyBody });
    const other = await call('POST', '/v1/environments', { body: { name: 'Other', type: 'development' } });
    await inSqlTransaction(database, systemScope, (tx) =>
      tx.rows('update api_key set environment_id = $2 where id = $1', [key.secret.id, other.body.id]),
    );
    const refused = await call('DELETE', path);
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_error']);
    await inSqlTransaction(database, systemScope, (tx) =>
      tx.rows(`update api_key set expires_at = '2020-01-01T00:00:00Z' where id = $1`, [key.secret.id]),
    );
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(404);
    expect((await call('PUT', path, { body: { name: 'X' } })).status).toBe(400);
  });

  it('are searched by type, role and id', async () => {
    const { body } = await create({ name: 'Found', roles: ['event_ingestor'] });
    const search = async (filters: object) =>
      (await call('POST', '/v1/users/search', { body: filters })).body.items.map((item: { id: string }) => item.id);
    expect(await search({ user_ids: [body.id] })).toEqual([body.id]);
    expect(await search({ type: 'user' })).toContain(scope.actor);
    expect(await search({ type: 'user' })).not.toContain(body.id);
    expect(await search({ roles: ['event_ingestor'] })).toContain(body.id);
    expect(await search({ roles: ['super_admin'] })).not.toContain(body.id);
  });
});

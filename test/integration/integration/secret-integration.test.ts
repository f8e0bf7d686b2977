import { beforeEach, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { findConnection } from '../../../services/integration/connection.ts';
import { openSecrets } from '../../../services/integration/connection-secret.ts';
import { testApi } from '../../support/api.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';
import { examples, removeAll } from './connection.fixture.ts';

const { call, database, scope } = await testApi();
const path = '/v1/secrets/integrations';

beforeEach(() => removeAll({ call }));

const send = (provider: string, credentials: object, changes: object = {}) =>
  call('POST', `${path}/create/${provider}`, { body: { name: 'Older', provider, credentials, ...changes } });

const kept = (id: string) =>
  inTransaction(database, scope, async (tx) =>
    openSecrets(testSecretKeys.secretEncryptionKeys, await findConnection(tx, id)),
  );

it('a connection is a secret record that has every key and discloses nothing', async () => {
  const { status, body } = await send('nomod', { api_key: 'nm' });
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^conn_/),
      name: 'Older',
      type: 'integration',
      provider: 'nomod',
      display_id: '***',
      roles: [],
      user_type: null,
      user_id: null,
      service_account_name: null,
      expires_at: null,
      last_used_at: null,
      status: 'published',
      created_at: time,
      updated_at: time,
    },
  ]);
  expect((await call('GET', `${path}/by-provider/nomod`)).body).toEqual(body);
  const shown = await call('GET', `/v1/connections/${body.id}`);
  expect(shown.body).toMatchObject({ id: body.id, provider_type: 'nomod', name: 'Older' });
});

it('sending it again replaces name and secrets of the connection, and leaves what it exchanges', async () => {
  const made = await call('POST', '/v1/connections', {
    body: {
      name: 'First',
      provider_type: 'stripe',
      encrypted_secret_data: { ...examples.stripe?.least, ...examples.stripe?.more },
      metadata: { a: 'b' },
      sync_config: { customer: { outbound: true } },
    },
  });
  const { status, body } = await send('stripe', { publishable_key: 'pk2', secret_key: 'sk2' });
  expect([status, body.id, body.name]).toEqual([201, made.body.id, 'Older']);
  const after = (await call('GET', `/v1/connections/${body.id}`)).body;
  expect(after).toMatchObject({ metadata: { a: 'b' }, sync_config: made.body.sync_config });
  expect(await kept(body.id)).toEqual({ publishable_key: 'pk2', secret_key: 'sk2' });
});

it.each([
  ['provider', 'nomod', { provider: 'stripe' }, 'provider must be nomod, as in the path'],
  ['provider', 'flexprice', {}, 'provider must be one of stripe, '],
  ['provider', 'nomod', { provider: undefined }, 'provider is required'],
  ['name', 'nomod', { name: '' }, 'name must not be empty'],
  ['credentials', 'nomod', { credentials: undefined }, 'credentials'],
  ['credentials.api_key', 'nomod', { credentials: {} }, 'credentials.api_key is required'],
  ['credentials.token', 'nomod', { credentials: { api_key: 'x', token: 'y' } }, 'is no secret of nomod'],
])('is refused for its %s', async (field, provider, changes, message) => {
  const answer = await send(provider, { api_key: 'x' }, changes);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  expect(Object.keys(answer.body.details.fields)).toEqual([field]);
  expect(answer.body.message).toContain(message);
  expect((await call('GET', `${path}/linked`)).body).toEqual({ providers: [] });
});

it('of several connections none is replaced, and the newest is shown', async () => {
  const s3 = (name: string) => ({ name, provider_type: 's3', encrypted_secret_data: examples.s3?.least });
  await call('POST', '/v1/connections', { body: s3('one') });
  const { body: two } = await call('POST', '/v1/connections', { body: s3('two') });
  const refused = await send('s3', { ...examples.s3?.least });
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
  expect((await call('GET', `${path}/by-provider/s3`)).body.id).toBe(two.id);
  expect((await call('GET', `${path}/linked`)).body).toEqual({ providers: ['s3'] });
});

it('credentials are refused where the bucket is the platform’s', async () => {
  const managed = { name: 'm', provider_type: 's3', sync_config: { s3: { is_platform_managed: true } } };
  await call('POST', '/v1/connections', { body: managed });
  const refused = await send('s3', { ...examples.s3?.least });
  expect([refused.status, Object.keys(refused.body.details.fields)]).toEqual([400, ['credentials']]);
});

it('linked names each provider once, in order', async () => {
  await send('tabs', { api_key: 'x' });
  await send('nomod', { api_key: 'x' });
  expect((await call('GET', `${path}/linked`)).body).toEqual({ providers: ['nomod', 'tabs'] });
});

it('deleting archives the connection, once', async () => {
  const { body } = await send('nomod', { api_key: 'x' });
  expect(await call('DELETE', `${path}/${body.id}`)).toMatchObject({ status: 204, body: null });
  for (const [method, suffix] of [
    ['DELETE', body.id],
    ['GET', 'by-provider/nomod'],
    ['GET', 'by-provider/flexprice'],
  ] as const)
    expect((await call(method, `${path}/${suffix}`)).status).toBe(404);
  expect((await call('GET', `/v1/connections/${body.id}`)).status).toBe(404);
});

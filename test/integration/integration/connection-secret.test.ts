import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { findConnection } from '../../../services/integration/connection.ts';
import { openSecrets } from '../../../services/integration/connection-secret.ts';
import { withoutFormerSecrets } from '../../../services/integration/webhook-secret.ts';
import { testApi } from '../../support/api.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';
import { examples, googleAccount, removeAll } from './connection.fixture.ts';

const { call, database, scope } = await testApi();
const connections = '/v1/connections';

beforeEach(() => removeAll({ call }));

const send = (provider: string, secrets: unknown, more: object = {}) =>
  call('POST', connections, {
    body: { name: provider, provider_type: provider, encrypted_secret_data: secrets, ...more },
  });

const kept = (id: string) =>
  inTransaction(database, scope, async (tx) => {
    const secrets = openSecrets(testSecretKeys.secretEncryptionKeys, await findConnection(tx, id));
    return secrets && withoutFormerSecrets(secrets);
  });

const providers = Object.entries(examples);
const defaults: Record<string, object> = { quickbooks: { income_account_id: '79' } };

describe.each(providers)('%s', (provider, { least, more }) => {
  it('takes what it requires, flat', async () => {
    const { status, body } = await send(provider, least);
    expect([status, body.message]).toEqual([201, undefined]);
    expect(await kept(body.id)).toEqual({ ...least, ...defaults[provider] });
  });

  it('takes everything it knows, nested under its name, and null for what is absent', async () => {
    const absent = Object.fromEntries(Object.keys(more).map((name) => [name, null]));
    const { body } = await send(provider, { [provider]: { ...least, ...more } });
    expect(await kept(body.id)).toEqual({ ...defaults[provider], ...least, ...more });
    await call('DELETE', `${connections}/${body.id}`);
    const without = await send(provider, { ...least, ...absent, [provider]: null });
    expect(await kept(without.body.id)).toEqual({ ...defaults[provider], ...least });
  });

  it.each(Object.keys(least))('requires %s, which is neither empty, blank nor a number', async (name) => {
    for (const [value, path] of [
      [undefined, ''],
      [null, ''],
      ['', ''],
      ['  ', ''],
      [7, ''],
      ['', `${provider}.`],
    ] as const) {
      const secrets = { ...least, [name]: value };
      const { status, body } = await send(provider, path === '' ? secrets : { [provider]: secrets });
      expect([status, body.code]).toEqual([400, 'validation_error']);
      expect(Object.keys(body.details.fields)).toEqual([`encrypted_secret_data.${path}${name}`]);
    }
  });

  it('refuses a member it does not know, naming those it does', async () => {
    const flat = await send(provider, { ...least, password: 'x' });
    const nested = await send(provider, { [provider]: { ...least, password: 'x' } });
    for (const [{ status, body }, field] of [
      [flat, 'encrypted_secret_data.password'],
      [nested, `encrypted_secret_data.${provider}.password`],
    ] as const) {
      expect([status, body.code, Object.keys(body.details.fields)]).toEqual([400, 'validation_error', [field]]);
      for (const name of [...Object.keys(least), ...Object.keys(more)]) expect(body.message).toContain(name);
    }
  });

  it('refuses to come without secrets, and with them both flat and nested', async () => {
    for (const secrets of [undefined, null]) {
      const { status, body } = await send(provider, secrets);
      expect([status, Object.keys(body.details.fields)]).toEqual([400, ['encrypted_secret_data']]);
    }
    const { status, body } = await send(provider, { [provider]: least, ...least });
    expect([status, body.message]).toEqual([400, expect.stringContaining('flat or nested, not both')]);
    expect((await send(provider, { [provider]: 'x' })).body.message).toContain('must be an object');
    expect((await send(provider, [])).status).toBe(400);
  });
});

describe('a member', () => {
  const example = (provider: string) => examples[provider]?.least ?? {};
  it.each([
    ['chargebee', 'site', 'acme.chargebee.com'],
    ['chargebee', 'site', 'https://acme'],
    ['chargebee', 'site', '-acme'],
    ['chargebee', 'site', 'a'.repeat(64)],
    ['chargebee', 'site', 'evil/'],
    ['quickbooks', 'environment', 'test'],
    ['zoho_books', 'accounts_server', 'https://accounts.zoho.evil.com'],
    ['zoho_books', 'accounts_server', 'https://evilzoho.com'],
    ['zoho_books', 'accounts_server', 'http://accounts.zoho.com'],
    ['zoho_books', 'api_domain', 'https://user@www.zohoapis.com'],
    ['zoho_books', 'api_domain', 'https://www.zohoapis.com:8443'],
    ['zoho_books', 'api_domain', 'https://www.zohoapis.com/path'],
    ['zoho_books', 'api_domain', 'https://127.0.0.1'],
    ['stripe', 'secret_key', 's'.repeat(8_193)],
    ['gcp_marketplace', 'credentials_json', '{"type": "external_account"'],
    ['gcp_marketplace', 'credentials_json', '[]'],
    ['gcp_marketplace', 'credentials_json', googleAccount({ type: 'service_account' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_url: undefined })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_url: 'https://sts.googleapis.com.evil.com/v1' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_url: 'http://sts.googleapis.com/v1/token' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_url: 'https://sts.googleapis.com:444/v1/token' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_url: 'https://x@sts.googleapis.com/v1/token' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ token_info_url: 'https://evil.com' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ service_account_impersonation_url: 'https://evil.com' })],
    ['gcp_marketplace', 'credentials_json', googleAccount({ credential_source: { executable: { command: 'id' } } })],
  ])('%s %s is refused for what is wrong with it', async (provider, name, value) => {
    const { status, body } = await send(provider, { ...example(provider), [name]: value });
    const field = `encrypted_secret_data.${name}`;
    expect([status, Object.keys(body.details.fields)]).toEqual([400, [field]]);
    expect(JSON.stringify(body)).not.toContain(value.slice(0, 60));
  });

  it.each([
    ['chargebee', { site: 'Acme-Test' }],
    ['zoho_books', { accounts_server: 'accounts.zoho.com.au', api_domain: 'https://www.zohoapis.com.au/' }],
    ['zoho_books', { accounts_server: 'https://accounts.zohocloud.ca', api_domain: 'https://www.zohoapis.ca' }],
    ['gcp_marketplace', { credentials_json: googleAccount({ service_account_impersonation_url: undefined }) }],
    ['gcp_marketplace', { credentials_json: googleAccount({ credential_source: { file: '/var/run/token' } }) }],
  ])('%s takes %j', async (provider, secrets) => {
    expect((await send(provider, { ...example(provider), ...secrets })).status).toBe(201);
  });

  const { access_token: _access, refresh_token: _refresh, ...unauthorized } = example('quickbooks');
  const code = { auth_code: 'code', redirect_uri: 'https://example.com/back' };
  it('quickbooks takes an authorization code with its address instead of tokens', async () => {
    const { body } = await send('quickbooks', { ...unauthorized, ...code });
    expect(await kept(body.id)).toEqual({ ...unauthorized, ...code, income_account_id: '79' });
  });

  it.each([
    ['nothing', {}, 'access_token'],
    ['one token', { access_token: 't' }, 'refresh_token'],
    ['the other token', { refresh_token: 't' }, 'access_token'],
    ['a code alone', { auth_code: 'c' }, 'redirect_uri'],
    ['an address alone', { redirect_uri: 'https://example.com' }, 'auth_code'],
  ])('quickbooks is refused with %s to be authorized by', async (_what, secrets, field) => {
    const { status, body } = await send('quickbooks', { ...unauthorized, ...secrets });
    expect([status, Object.keys(body.details.fields)]).toEqual([400, [`encrypted_secret_data.${field}`]]);
  });
});

describe('an update of secrets', () => {
  const made = async (provider: string, secrets: object) => (await send(provider, secrets)).body.id as string;
  const put = (id: string, secrets: unknown, more: object = {}) =>
    call('PUT', `${connections}/${id}`, { body: { encrypted_secret_data: secrets, ...more } });
  const stripe = { publishable_key: 'pk', secret_key: 'sk', webhook_secret: 'wh' };

  it('leaves the others when it is about webhooks alone, flat or nested', async () => {
    const id = await made('stripe', stripe);
    expect((await put(id, { webhook_secret: 'wh2' })).status).toBe(200);
    expect(await kept(id)).toEqual({ ...stripe, webhook_secret: 'wh2' });
    await put(id, { stripe: { webhook_secret: 'wh3' } });
    expect(await kept(id)).toEqual({ ...stripe, webhook_secret: 'wh3' });
    await put(id, { webhook_secret: null });
    expect(await kept(id)).toEqual({ publishable_key: 'pk', secret_key: 'sk' });
  });

  it('replaces all of them as a whole otherwise', async () => {
    const id = await made('stripe', stripe);
    const next = { publishable_key: 'pk2', secret_key: 'sk2' };
    expect((await put(id, next)).status).toBe(200);
    expect(await kept(id)).toEqual(next);
    const incomplete = await put(id, { secret_key: 'sk3', webhook_secret: 'wh' });
    expect([incomplete.status, incomplete.body.message]).toEqual([
      400,
      'encrypted_secret_data.publishable_key is required',
    ]);
    expect((await put(id, {})).status).toBe(400);
    expect(await kept(id)).toEqual(next);
    await put(id, null, { name: 'Renamed' });
    expect(await kept(id)).toEqual(next);
  });

  it('knows the webhook members of each provider', async () => {
    const { least } = examples.chargebee!;
    const chargebee = await made('chargebee', least);
    await put(chargebee, { webhook_password: 'new' });
    expect(await kept(chargebee)).toEqual({ ...least, webhook_password: 'new' });
    const refused = await put(chargebee, { webhook_password: null });
    expect([refused.status, refused.body.message]).toEqual([400, 'encrypted_secret_data.webhook_password is required']);
    const quickbooks = await made('quickbooks', { ...examples.quickbooks?.least });
    await put(quickbooks, { quickbooks: { webhook_verifier_token: 'v' } });
    expect(await kept(quickbooks)).toMatchObject({ webhook_verifier_token: 'v', income_account_id: '79' });
    const hubspot = await made('hubspot', { ...examples.hubspot?.least });
    const foreign = await put(hubspot, { webhook_secret: 'x' });
    expect(Object.keys(foreign.body.details.fields)).toEqual(['encrypted_secret_data.webhook_secret']);
  });
});

describe('a bucket of the platform', () => {
  const managed = { sync_config: { s3: { is_platform_managed: true } } };
  const own = { sync_config: { s3: { bucket: 'acme-exports', region: 'eu-central-1' } } };
  const { least } = examples.s3!;

  it('needs no credentials, and ignores those that are sent', async () => {
    const without = await send('s3', undefined, managed);
    const { body } = await send('s3', { ...least, whatever: 1 }, managed);
    expect([without.status, await kept(without.body.id), await kept(body.id)]).toEqual([201, null, null]);
  });

  it('takes credentials away when it replaces an own one, and wants them back the other way round', async () => {
    const { id } = (await send('s3', least, own)).body;
    await call('PUT', `${connections}/${id}`, { body: managed });
    expect(await kept(id)).toBeNull();
    const refused = await call('PUT', `${connections}/${id}`, { body: own });
    expect([refused.status, Object.keys(refused.body.details.fields)]).toEqual([400, ['encrypted_secret_data']]);
    const body = { ...own, encrypted_secret_data: least };
    expect((await call('PUT', `${connections}/${id}`, { body })).status).toBe(200);
    expect(await kept(id)).toEqual(least);
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { connectAwsRoles } from '../../../integrations/aws-roles.ts';
import { testApi } from '../../support/api.ts';
import { testStsServer } from '../../support/gateways/sts-server.ts';
import { removeAll } from './connection.fixture.ts';

const sts = await testStsServer();
const account = { accessKeyId: 'AKIAOURS', secretAccessKey: 'our_secret' };
const awsRoles = connectAwsRoles({ ...account, endpoint: sts.url });
const { app, call, database, scope, apiKey } = await testApi({ awsRoles });
const connections = '/v1/connections';

afterEach(async () => {
  sts.answerWith('credentials');
  sts.whileAsked(null);
  await removeAll({ call });
  sts.requests.length = 0;
});

const role = { role_arn: 'arn:aws:iam::123456789012:role/billing', external_id: 'perennial-42' };
const inRegion = (region: string) => ({ aws_marketplace: { region } });
const body = (changes: object = {}) => ({
  name: 'Marketplace',
  provider_type: 'aws_marketplace',
  encrypted_secret_data: role,
  sync_config: inRegion('us-east-1'),
  ...changes,
});

async function create(changes: object = {}) {
  const answer = await call('POST', connections, { body: body(changes) });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const count = async () => (await call('GET', connections)).body.total;
const roleField = 'encrypted_secret_data.role_arn';

describe('a connection to AWS Marketplace', () => {
  it('is made after its role was assumed with its external id, by our account, in its region', async () => {
    const made = await create({ sync_config: inRegion('eu-central-1') });
    expect(made.sync_config.aws_marketplace).toEqual({ region: 'eu-central-1' });
    expect(sts.requests).toEqual([
      {
        action: 'AssumeRole',
        roleArn: role.role_arn,
        externalId: role.external_id,
        region: 'eu-central-1',
        accessKeyId: account.accessKeyId,
      },
    ]);
    expect(JSON.stringify(made)).not.toMatch(/given_|ASIAGIVEN|perennial-42|role\/billing/);
  });

  it.each([
    ['role_arn', { encrypted_secret_data: { external_id: 'x' } }, roleField],
    ['external_id', { encrypted_secret_data: { role_arn: 'x' } }, 'encrypted_secret_data.external_id'],
    ['a region', { sync_config: {} }, 'sync_config.aws_marketplace.region'],
    ['a region that is one', { sync_config: inRegion('evil.example.com/') }, 'sync_config.aws_marketplace.region'],
  ])('needs %s before anybody is asked', async (_what, changes, field) => {
    const answer = await call('POST', connections, { body: body(changes) });
    expect([answer.status, Object.keys(answer.body.details.fields)]).toEqual([400, [field]]);
    expect(sts.requests).toEqual([]);
  });

  it.each([
    ['denies it', { status: 403, code: 'AccessDenied', message: 'provider text' }, 'trust this installation'],
    ['takes it for malformed', { status: 400, code: 'ValidationError', message: 'provider text' }, 'malformed'],
    ['has it switched off', { status: 403, code: 'RegionDisabledException', message: 'provider text' }, 'region'],
    ['does not know us', { status: 403, code: 'InvalidClientTokenId', message: 'provider text' }, 'operator'],
    ['fails', { status: 500, code: 'InternalFailure', message: 'provider text' }, 'could not be asked'],
    ['gives nothing', 'nothing', 'gave no credentials'],
  ] as const)('is refused when AWS %s, without its words, and nothing is written', async (_how, answer, message) => {
    sts.answerWith(answer);
    const refused = await call('POST', connections, { body: body() });
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_error']);
    expect(Object.keys(refused.body.details.fields)).toEqual([roleField]);
    expect(refused.body.message).toContain(message);
    expect(JSON.stringify(refused.body)).not.toMatch(/provider text|role\/billing|perennial-42/);
    expect(await count()).toBe(0);
  });

  it('is refused when AWS is not reached or does not answer', async () => {
    sts.answerWith('silence');
    const other = async (options: object) => {
      const roles = connectAwsRoles({ ...account, ...options });
      return roles.check({ roleArn: role.role_arn, externalId: 'x', region: 'us-east-1' });
    };
    await expect(other({ endpoint: sts.url, timeoutMs: 50 })).rejects.toThrow('AWS did not answer within 0.05 s');
    await expect(other({ endpoint: 'http://127.0.0.1:1' })).rejects.toThrow('AWS could not be asked');
  });

  it('is not asked for where another one is in the way', async () => {
    await create();
    sts.requests.length = 0;
    expect((await call('POST', connections, { body: body() })).status).toBe(409);
    expect(sts.requests).toEqual([]);
  });

  it('is answered again after a crash that lost the answer, as what its first try made', async () => {
    const request = { body: body(), headers: { 'idempotency-key': 'crashed' } };
    const first = await call('POST', connections, request);
    await inTransaction(database, scope, (tx) =>
      tx.rows(`update idempotent_request set status_code = 0, body = '' where key = 'crashed'`),
    );
    const again = await call('POST', connections, request);
    expect([again.status, again.body, await count()]).toEqual([201, first.body, 1]);
    sts.requests.length = 0;
    expect((await call('POST', connections, request)).body).toEqual(first.body);
    expect(sts.requests).toEqual([]);
  });

  it('is asked for with no transaction open', async () => {
    const open: unknown[] = [];
    sts.whileAsked(async () => {
      const { rows } = await database.pool.query(
        `select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      );
      open.push(...rows);
    });
    const { id } = await create();
    await call('PUT', `${connections}/${id}`, { body: { sync_config: inRegion('us-west-2') } });
    expect([sts.requests.length, open]).toEqual([2, []]);
  });

  it('is 501 where the installation has no account at AWS', async () => {
    const { awsRoles: _none, ...dependencies } = app.dependencies;
    const other = await buildApp(dependencies);
    const headers = { 'x-api-key': apiKey };
    const answer = await other.inject({ method: 'POST', url: connections, headers, payload: body() });
    expect([answer.statusCode, answer.json().code]).toEqual([501, 'not_implemented']);
    expect(answer.json().message).toContain('AWS_MARKETPLACE_ACCESS_KEY_ID');
  });
});

describe('an update', () => {
  it('assumes the role again when the role or the region changes, and not otherwise', async () => {
    const { id } = await create();
    sts.requests.length = 0;
    const put = async (change: object) => (await call('PUT', `${connections}/${id}`, { body: change })).status;
    expect(await put({ name: 'Renamed', metadata: { a: 'b' } })).toBe(200);
    expect(await put({ sync_config: { ...inRegion('us-east-1'), customer: { outbound: true } } })).toBe(200);
    expect(sts.requests).toEqual([]);
    expect(await put({ sync_config: inRegion('us-west-2') })).toBe(200);
    expect(await put({ encrypted_secret_data: { aws_marketplace: { ...role, external_id: 'new' } } })).toBe(200);
    expect(sts.requests.map(({ region, externalId }) => [region, externalId])).toEqual([
      ['us-west-2', role.external_id],
      ['us-west-2', 'new'],
    ]);
  });

  it('that AWS denies changes nothing', async () => {
    const made = await create();
    sts.answerWith({ status: 403, code: 'AccessDenied', message: '' });
    const change = { name: 'New', sync_config: inRegion('us-west-2') };
    const refused = await call('PUT', `${connections}/${made.id}`, { body: change });
    expect([refused.status, Object.keys(refused.body.details.fields)]).toEqual([400, [roleField]]);
    expect((await call('PUT', `${connections}/${made.id}`, { body: { sync_config: null } })).status).toBe(400);
    expect((await call('GET', `${connections}/${made.id}`)).body).toEqual(made);
  });

  it('whose role somebody else changed while AWS was asked is a conflict', async () => {
    const { id } = await create();
    sts.whileAsked(async () => {
      sts.whileAsked(null);
      const other = { encrypted_secret_data: { ...role, external_id: 'theirs' } };
      expect((await call('PUT', `${connections}/${id}`, { body: other })).status).toBe(200);
    });
    const answer = await call('PUT', `${connections}/${id}`, { body: { sync_config: inRegion('us-west-2') } });
    expect([answer.status, answer.body.code]).toEqual([409, 'version_conflict']);
    expect((await call('GET', `${connections}/${id}`)).body.sync_config.aws_marketplace.region).toBe('us-east-1');
  });
});

it('the older form needs a connection that has a region already', async () => {
  const older = '/v1/secrets/integrations/create/aws_marketplace';
  const sent = { name: 'Older', provider: 'aws_marketplace', credentials: role };
  const refused = await call('POST', older, { body: sent });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('POST /connections')]);
  await create();
  sts.answerWith({ status: 403, code: 'AccessDenied', message: '' });
  const denied = await call('POST', older, { body: sent });
  expect([denied.status, Object.keys(denied.body.details.fields)]).toEqual([400, ['credentials.role_arn']]);
  sts.answerWith('credentials');
  expect((await call('POST', older, { body: sent })).status).toBe(201);
});

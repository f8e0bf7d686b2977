import { expect, it } from 'vitest';
import { readConfig } from '../../../config.ts';

const url = 'postgres://perennial_app:s3cret@localhost:5432/perennial';

it('has a default for everything but the database', () => {
  expect(readConfig({ DATABASE_URL: url, PORT: '' })).toMatchObject({
    databaseUrl: url,
    port: 8080,
    rateLimitPerSecond: 100,
  });
});

it('takes the address of the metrics as an IP address with a port', () => {
  expect(readConfig({ DATABASE_URL: url }).metricsAddress).toBeNull();
  for (const METRICS_ADDRESS of ['0.0.0.0:9464', '[::1]:9464'])
    expect(readConfig({ DATABASE_URL: url, METRICS_ADDRESS }).metricsAddress).toBe(METRICS_ADDRESS);
  expect(() => readConfig({ DATABASE_URL: url, METRICS_ADDRESS: '9464' })).toThrow(/METRICS_ADDRESS: .*127.0.0.1:9464/);
});

it('keeps outbound events for 90 days unless told otherwise, and never shorter than a replay reaches back', () => {
  const read = (OUTBOUND_EVENT_RETENTION_DAYS?: string) =>
    readConfig({ DATABASE_URL: url, OUTBOUND_EVENT_RETENTION_DAYS }).outboundEventRetentionDays;
  expect([read(), read('35')]).toEqual([90, 35]);
  for (const bad of ['34', '35.5', 'x']) expect(() => read(bad)).toThrow(/OUTBOUND_EVENT_RETENTION_DAYS: /);
});

it('takes ClickHouse as the usage engine when it is told where it is', () => {
  const given = { DATABASE_URL: url, CLICKHOUSE_URL: 'http://user:s3cret@clickhouse:8123/perennial' };
  expect(readConfig(given).clickhouseUrl).toBeNull();
  expect(readConfig({ ...given, USAGE_ENGINE: 'clickhouse' }).clickhouseUrl).toBe(given.CLICKHOUSE_URL);
  const engine = { DATABASE_URL: url, USAGE_ENGINE: 'clickhouse' };
  expect(() => readConfig(engine)).toThrow('CLICKHOUSE_URL: is required with USAGE_ENGINE=clickhouse');
  expect(() => readConfig({ ...engine, CLICKHOUSE_URL: 'http://clickhouse:8123' })).toThrow('must name a database');
  expect(() => readConfig({ ...given, USAGE_ENGINE: 'mysql' })).toThrow('USAGE_ENGINE: must be postgres or clickhouse');
});

it('takes keys for secrets by name, the first of them being the one that seals', () => {
  const [first, second] = ['aB'.repeat(32), '01'.repeat(32)];
  const read = (SECRET_ENCRYPTION_KEYS?: string) => readConfig({ DATABASE_URL: url, SECRET_ENCRYPTION_KEYS });
  expect(read().secretEncryptionKeys).toEqual([]);
  expect(read(`2026-11:${first},2025:${second}`).secretEncryptionKeys).toEqual([
    { id: '2026-11', key: first },
    { id: '2025', key: second },
  ]);
  for (const bad of [first, `a:${first.slice(1)}`, `a:${first}0`, `a b:${first}`, `:${first}`, `a:${'x'.repeat(64)}`])
    expect(() => read(bad)).toThrow(/SECRET_ENCRYPTION_KEYS: must be keys as <name>:<64 hexadecimal digits>/);
  expect(() => read(`a:${first},a:${second}`)).toThrow('must not name two keys alike');
  expect(() => read(`a:${first},b`)).not.toThrow(first);
});

it('takes an account at AWS whole or not at all', () => {
  const account = { AWS_MARKETPLACE_ACCESS_KEY_ID: 'AKIA', AWS_MARKETPLACE_SECRET_ACCESS_KEY: 's3cret' };
  expect(readConfig({ DATABASE_URL: url }).awsMarketplace).toBeNull();
  expect(readConfig({ DATABASE_URL: url, ...account }).awsMarketplace).toEqual({
    accessKeyId: 'AKIA',
    secretAccessKey: 's3cret',
    endpoint: null,
  });
  for (const [name, value] of Object.entries(account))
    expect(() => readConfig({ DATABASE_URL: url, [name]: value })).toThrow(
      'AWS_MARKETPLACE_SECRET_ACCESS_KEY: is required',
    );
});

it('limits all keys of a tenant to ten times one key unless told otherwise', () => {
  const limits = (given: Record<string, string>) =>
    readConfig({ DATABASE_URL: url, ...given }).rateLimitPerTenantPerSecond;
  expect(limits({})).toBe(1_000);
  expect(limits({ RATE_LIMIT_PER_SECOND: '7' })).toBe(70);
  expect(limits({ RATE_LIMIT_PER_SECOND: '0' })).toBe(0);
  expect(limits({ RATE_LIMIT_PER_TENANT_PER_SECOND: '5' })).toBe(5);
});

it('trusts the proxies it is told of, by number or by address', () => {
  const trusted = (TRUST_PROXY: string) => readConfig({ DATABASE_URL: url, TRUST_PROXY }).trustProxy;
  expect(['', 'false', '0', 'true', '1', '2'].map(trusted)).toEqual([false, false, false, 1, 1, 2]);
  expect(trusted('10.0.0.0/8, fd00::/8,192.0.2.1')).toEqual(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
  for (const text of ['proxy.internal', '10.0.0.0/33', '10.0.0.0/8/1', ',', '-1'])
    expect(() => trusted(text)).toThrow(/TRUST_PROXY: must be true, false/);
});

it('names every bad variable and shows no value', () => {
  const bad = { DATABASE_URL: 'mysql://s3cret', PORT: '99999', RATE_LIMIT_PER_SECOND: 'many', TRUST_PROXY: 'yes' };
  for (const name of Object.keys(bad)) expect(() => readConfig(bad)).toThrow(name);
  expect(() => readConfig(bad)).not.toThrow(/s3cret/);
});

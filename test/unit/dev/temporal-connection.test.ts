import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../config.ts';
import { callRetry, temporalSettings } from '../../../temporal-connection.ts';
import { testAuthority } from '../../support/certificates.ts';

const authority = testAuthority('CA of Temporal');
const client = authority.issue('client');
const file = join(dirname(authority.file), 'temporal.toml');
writeFileSync(
  file,
  `[profile.default]
address = "books.a1b2c.tmprl.cloud:7233"
namespace = "books.a1b2c"
[profile.default.tls]
client_cert_path = "${client.certificate}"
client_key_path = "${client.key}"
[profile.keyed]
address = "eu-central-1.aws.api.temporal.io:7233"
namespace = "books.a1b2c"
api_key = "from-file"
`,
);

describe('the settings of Temporal', () => {
  it('are a server here without a word, and what the two variables say', () => {
    expect(temporalSettings({})).toEqual({ namespace: 'default', connection: { address: '127.0.0.1:7233' } });
    expect(temporalSettings({ TEMPORAL_ADDRESS: 't:7233', TEMPORAL_NAMESPACE: 'books', TEMPORAL_API_KEY: '' })).toEqual(
      {
        namespace: 'books',
        connection: { address: 't:7233' },
      },
    );
  });

  it('are TLS and a key for Temporal Cloud', () => {
    const cloud = { TEMPORAL_ADDRESS: 'eu-central-1.aws.api.temporal.io:7233', TEMPORAL_API_KEY: 's3cret' };
    expect(temporalSettings(cloud).connection).toMatchObject({ apiKey: 's3cret', tls: true });
    expect(temporalSettings({ TEMPORAL_TLS: 'true' }).connection.tls).toBeTruthy();
  });

  it('are those of a profile where one is asked for, and variables win', () => {
    const profile = temporalSettings({ TEMPORAL_CONFIG_FILE: file });
    expect(profile).toMatchObject({
      namespace: 'books.a1b2c',
      connection: { address: 'books.a1b2c.tmprl.cloud:7233' },
    });
    expect(profile.connection.tls).toMatchObject({ clientCertPair: { crt: expect.any(Uint8Array) } });
    const keyed = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'keyed', TEMPORAL_NAMESPACE: 'other' };
    expect(temporalSettings(keyed)).toMatchObject({
      namespace: 'other',
      connection: { apiKey: 'from-file', tls: true },
    });
  });

  it.each([
    [{ TEMPORAL_TLS: 'TRUE' }, 'TEMPORAL_TLS must be true or false'],
    [{ TEMPORAL_TLS_CERT: 'x' }, 'TEMPORAL_TLS_CERT is not known; known are TEMPORAL_TLS, '],
    [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not known'],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: client.certificate }, 'certificate and key belong together'],
    [{ TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/no/such.pem' }, 'the settings of Temporal cannot be used: ENOENT'],
    [
      { TEMPORAL_TLS_CLIENT_CERT_PATH: client.key, TEMPORAL_TLS_CLIENT_KEY_PATH: client.key },
      'the settings of Temporal cannot be used',
    ],
    [{ TEMPORAL_CONFIG_FILE: '/no/such.toml' }, 'the file /no/such.toml of TEMPORAL_CONFIG_FILE does not exist'],
    [{ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'nobody' }, 'nobody'],
    [{ TEMPORAL_API_KEY: 's3cret', TEMPORAL_TLS: 'false' }, 'TEMPORAL_API_KEY is sent over TLS only'],
  ])('%j are refused with a sentence', (environment, sentence) => {
    expect(() => temporalSettings(environment)).toThrow(sentence);
    const start = () => readConfig({ DATABASE_URL: 'postgresql://a@localhost/a', ...environment });
    expect(start).toThrow('The configuration is not usable. ');
    expect(start).toThrow(sentence);
    expect(start).not.toThrow(/s3cret/);
  });
});

describe('a call that the server refuses', () => {
  const { delayFunction, retryableDecider } = callRetry(4);
  const status = (details: string) => ({ code: 8, details }) as Parameters<typeof delayFunction>[1];

  it.each([
    'Update-with-Start could not be executed.',
    'Workflow operation can not be applied because workflow is closing.',
  ])('for a workflow whose run rolls over is sent again within milliseconds: %s', (details) => {
    const waits = [1, 2, 3].map((attempt) => delayFunction(attempt, status(details)));
    expect(Math.max(...waits)).toBeLessThan(200);
    expect(retryableDecider(7, status(details))).toBe(true);
    expect(retryableDecider(8, status(details))).toBe(false);
  });

  it('for want of resources waits for seconds', () => {
    expect(delayFunction(1, status('namespace rate limit exceeded'))).toBeGreaterThan(1_000);
    expect(retryableDecider(4, status('namespace rate limit exceeded'))).toBe(false);
  });
});

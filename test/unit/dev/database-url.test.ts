import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../config.ts';
import { databaseConnection } from '../../../database-url.ts';
import { testAuthority } from '../../support/certificates.ts';

const authority = testAuthority('CA of databases');
const client = authority.issue('client');
const url = (query: string) => `postgresql://app:s3cret@db.example.com:5433/books${query && `?${query}`}`;
const connection = (query: string, environment = {}) => databaseConnection(url(query), environment);
const root = `sslrootcert=${encodeURIComponent(authority.file)}`;

describe('a database URL', () => {
  it('names host, role, database and what is set for the session', () => {
    expect(
      connection('application_name=books&connect_timeout=5&keepalives_idle=30&options=-c%20jit%3Doff'),
    ).toMatchObject({
      host: 'db.example.com',
      port: 5433,
      user: 'app',
      password: 's3cret',
      database: 'books',
      ssl: false,
      application_name: 'books',
      options: '-c jit=off',
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
    });
    expect(databaseConnection('postgresql://app@localhost/books?host=/run/postgresql', {}).host).toBe(
      '/run/postgresql',
    );
  });

  it.each([
    ['', false],
    ['sslmode=disable', false],
    ['sslmode=prefer', { rejectUnauthorized: false }],
    ['sslmode=require', { rejectUnauthorized: false }],
    [
      `sslmode=require&${root}`,
      { ca: expect.stringContaining('CERTIFICATE'), checkServerIdentity: expect.any(Function) },
    ],
    [
      `sslmode=verify-ca&${root}`,
      { ca: expect.stringContaining('CERTIFICATE'), checkServerIdentity: expect.any(Function) },
    ],
    [`sslmode=verify-full&${root}`, { ca: expect.stringContaining('CERTIFICATE') }],
    ['sslmode=verify-full', {}],
    [root, { ca: expect.stringContaining('CERTIFICATE') }],
    ['sslmode=verify-full&sslrootcert=system', { ca: expect.any(Array) }],
    ['sslmode=require&ssl_min_protocol_version=TLSv1.3', { rejectUnauthorized: false, minVersion: 'TLSv1.3' }],
  ])('with %s has the TLS of libpq', (query, ssl) => {
    expect(connection(query).ssl).toEqual(ssl);
  });

  it('takes the variables of PostgreSQL for what it leaves out', () => {
    const environment = {
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: authority.file,
      PGSSLCERT: client.certificate,
      PGSSLKEY: client.key,
    };
    expect(connection('', environment).ssl).toMatchObject({ ca: expect.any(String), cert: expect.any(String) });
    expect(connection('sslmode=disable', environment).ssl).toBe(false);
    expect(connection('', { PGSSLMODE: '' }).ssl).toBe(false);
    expect(() => connection('', { PGSSLMODE: 'always' })).toThrow('sslmode must be one of');
  });

  const broken = join(dirname(authority.file), 'broken.pem');
  writeFileSync(broken, 'no certificate');
  it.each([
    ['sslmod=require', 'the parameter sslmod is not known; known are application_name, '],
    ['ssl=true', 'the parameter ssl is not known'],
    ['schema=books', 'the parameter schema is not known'],
    ['sslmode=require&sslmode=disable', 'the parameter sslmode is given twice'],
    ['sslmode=on', 'sslmode must be one of disable, prefer, require, verify-ca, verify-full'],
    ['sslmode=allow', 'sslmode must be one of'],
    ['sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['sslmode=require&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
    ['sslmode=verify-full&sslrootcert=/no/such.pem', 'the file /no/such.pem of sslrootcert cannot be read: ENOENT'],
    [`sslmode=require&sslcert=${client.certificate}`, 'sslcert and sslkey belong together'],
    [`sslmode=require&sslcert=${client.certificate}&sslkey=${broken}`, 'its certificates cannot be used'],
    ['sslnegotiation=direct', 'sslnegotiation=direct needs sslmode require, verify-ca, verify-full'],
    ['channel_binding=require', 'channel_binding must be one of disable, prefer'],
    ['connect_timeout=soon', 'connect_timeout must be a number of seconds'],
    ['host=a,b', 'host must name one host'],
  ])('with %s is refused with a sentence that shows no password', (query, sentence) => {
    expect(() => connection(query)).toThrow(sentence);
    expect(() => connection(query)).not.toThrow(/s3cret/);
    for (const name of ['DATABASE_URL', 'DATABASE_OWNER_URL']) {
      const refused = () => readConfig({ DATABASE_URL: url(''), [name]: url(query) });
      expect(refused).toThrow(`The configuration is not usable. ${name}: ${sentence}`);
    }
  });
});

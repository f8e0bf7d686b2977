import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { databaseClient } from '../../../database-url.ts';
import { openDatabase } from '../../../db/orm.ts';
import { prepareDatabase } from '../../../db/prepare.ts';
import { systemScope } from '../../../db/scope.ts';
import { inCopyTransaction, inReadTransaction, inTransaction } from '../../../db/transaction.ts';
import { freePort } from '../../../dev/ports.ts';
import { startPostgres } from '../../../dev/postgres.ts';
import { postgresInstallation, removeDirectory } from '../../../dev/postgres-account.ts';
import { installSandboxGateway, openSandboxStore } from '../../../integrations/sandbox-gateway/store.ts';
import { testAuthority } from '../../support/certificates.ts';

/* A PostgreSQL with TLS whose certificate is made out to localhost, not to 127.0.0.1, and the one of all tests, which has none. */

const authority = testAuthority('CA of the database');
const stranger = testAuthority('CA of somebody else');
const server = authority.issue('server', ['localhost']);
const client = authority.issue('perennial-client');
const { uid, gid } = postgresInstallation().account;
chmodSync(dirname(authority.file), 0o755);
for (const file of Object.values(server)) if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);

const directory = mkdtempSync(join(tmpdir(), 'perennial-test-tls-'));
chmodSync(directory, 0o711);
const postgres = await startPostgres({
  directory: join(directory, 'postgres'),
  port: await freePort(),
  password: 'test',
  logFile: join(directory, 'postgres.log'),
  settings: {
    fsync: 'off',
    shared_buffers: '32MB',
    ssl: 'on',
    ssl_cert_file: server.certificate,
    ssl_key_file: server.key,
    ssl_ca_file: authority.file,
  },
});
afterAll(async () => {
  await postgres.stop();
  removeDirectory(join(directory, 'postgres'));
});

const withTls = (query: string, host = 'localhost') =>
  `${postgres.url('postgres').replace('127.0.0.1', host)}${query && `?${query}`}`;
const plainUrl = (query: string) => `${inject('servers').postgresUrl}?${query}`;
const [trusted, foreign] = [authority.file, stranger.file].map((file) => `sslrootcert=${encodeURIComponent(file)}`);

/** A connection as the server sees it: its TLS version, null for none, and whose certificate the client showed. */
async function seenBy(url: string) {
  const connection = databaseClient(url);
  connection.on('error', () => undefined);
  try {
    await connection.connect();
    const { rows } = await connection.query('select version, client_dn from pg_stat_ssl where pid = pg_backend_pid()');
    return rows[0];
  } finally {
    await connection.end();
  }
}
const encrypted = { version: expect.stringMatching(/^TLSv1/), client_dn: null };

describe('a server with TLS', () => {
  test.each([
    ['sslmode=prefer', 'localhost'],
    ['sslmode=require', '127.0.0.1'],
    [`sslmode=require&${trusted}`, '127.0.0.1'],
    [`sslmode=verify-ca&${trusted}`, '127.0.0.1'],
    [`sslmode=verify-full&${trusted}`, 'localhost'],
    [`sslmode=verify-full&sslnegotiation=direct&${trusted}`, 'localhost'],
    [`sslmode=verify-full&channel_binding=prefer&connect_timeout=30&${trusted}`, 'localhost'],
    [`${trusted}`, 'localhost'],
  ])('is asked for it with %s on %s', async (query, host) => {
    expect(await seenBy(withTls(query, host))).toEqual(encrypted);
  });

  test('is not with sslmode=disable and without a word', async () => {
    for (const query of ['', 'sslmode=disable'])
      expect(await seenBy(withTls(query))).toEqual({ version: null, client_dn: null });
  });

  test.each([
    [
      'another CA under verify-full',
      `sslmode=verify-full&${foreign}`,
      'localhost',
      /self-signed certificate|unable to verify/,
    ],
    [
      'another CA under verify-ca',
      `sslmode=verify-ca&${foreign}`,
      'localhost',
      /self-signed certificate|unable to verify/,
    ],
    ['another CA under require', `sslmode=require&${foreign}`, 'localhost', /self-signed certificate|unable to verify/],
    ['no CA of ours', 'sslmode=verify-full', 'localhost', /self-signed certificate|unable to verify/],
    ['another host under verify-full', `sslmode=verify-full&${trusted}`, '127.0.0.1', /does not match certificate/],
  ])('of %s is refused', async (_, query, host, message) => {
    await expect(seenBy(withTls(query, host))).rejects.toThrow(message);
    await expect(openDatabase({ url: withTls(query, host), poolSize: 1 })).rejects.toThrow(message);
    const store = openSandboxStore({ url: withTls(query, host) });
    await expect(store.rows('select 1')).rejects.toThrow(message);
    await store.close();
    await expect(prepareDatabase({ ownerUrl: withTls(query, host), applicationPassword: 'x' })).rejects.toThrow(
      message,
    );
  });

  test('is shown the client’s own certificate', async () => {
    const query = `sslmode=verify-full&${trusted}&sslcert=${client.certificate}&sslkey=${client.key}`;
    expect(await seenBy(withTls(query))).toMatchObject({ client_dn: '/CN=perennial-client' });
  });

  test('is prepared, migrated and used over TLS alone', async () => {
    const owner = withTls(`sslmode=verify-full&${trusted}`);
    const { ownerUrl, applicationUrl, migrations } = await prepareDatabase({
      ownerUrl: owner,
      databaseName: 'books',
      applicationPassword: 'application',
    });
    expect(migrations.length).toBeGreaterThan(10);
    await installSandboxGateway(ownerUrl, 'perennial_app');
    const database = await openDatabase({ url: applicationUrl });
    const store = openSandboxStore({ url: applicationUrl });
    const own = 'select ssl, current_setting($1) as zone from pg_stat_ssl where pid = pg_backend_pid()';
    try {
      const seen = [
        ...(await inTransaction(database, systemScope, (tx) => tx.rows(own, ['TimeZone']))),
        ...(await inReadTransaction(database, systemScope, (tx) => tx.rows(own, ['TimeZone']))),
        ...(await inCopyTransaction(database, systemScope, (tx) => tx.rows(own, ['TimeZone']))),
        ...(await database.orm.em.fork().getConnection().execute(own.replace('$1', "'TimeZone'"))),
      ];
      expect(seen).toEqual(Array.from({ length: 4 }, () => ({ ssl: true, zone: 'UTC' })));
      expect(await store.rows('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);
    } finally {
      await store.close();
      await database.close();
    }
  });
});

describe('a server without TLS', () => {
  test('is used without it where that may be', async () => {
    for (const query of ['sslmode=prefer', 'sslmode=prefer&connect_timeout=30', 'sslmode=disable'])
      expect(await seenBy(plainUrl(query))).toEqual({ version: null, client_dn: null });
    const database = await openDatabase({ url: plainUrl('sslmode=prefer'), poolSize: 2 });
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  test.each([
    'sslmode=require',
    `sslmode=verify-ca&${trusted}`,
    `sslmode=verify-full&${trusted}`,
    'sslmode=verify-full',
  ])('is refused with %s', async (query) => {
    await expect(seenBy(plainUrl(query))).rejects.toThrow('The server does not support SSL connections');
    const opened = openDatabase({ url: plainUrl(query), poolSize: 1 });
    await expect(opened).rejects.toThrow('The server does not support SSL connections');
  });
});

test('a server that never answers is given up after connect_timeout', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  for (const mode of ['disable', 'prefer', 'require']) {
    const url = `postgresql://a@127.0.0.1:${port}/a?sslmode=${mode}&connect_timeout=1`;
    await expect(seenBy(url)).rejects.toThrow(/timeout|terminated/);
  }
  for (const socket of sockets) socket.destroy();
  silent.close();
});
